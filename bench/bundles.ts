import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { COLD_START_LEVERS, TRIMMINGS } from '#lib/bundle-plugins.ts';
import { bundleFunctions } from '#lib/bundling.ts';

/**
 * `npm run bench:bundles` prints the bundle size of each function: as deployed, with the two cold-start plugins alone, and without any
 * plugin. Then it prints the bytes that each of the other plugins saves by itself.
 */
const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bench-'));

const sizesWith = async (plugins: readonly Plugin[]) =>
  (await bundleFunctions({ outDir: join(folder, 'bundles'), plugins })).sizes;

const printTable = (
  names: readonly string[],
  columns: Readonly<Record<string, (name: string) => number>>,
) => {
  const row = (first: string, cells: readonly string[]): string =>
    `${first.padEnd(26)}${cells.map((cell) => cell.padStart(24)).join('')}`;
  console.log(row('bytes', Object.keys(columns)));
  for (const name of names) {
    console.log(
      row(
        name,
        Object.values(columns).map((sizeOf) => sizeOf(name).toLocaleString('en-US')),
      ),
    );
  }
};

try {
  const deployed = await sizesWith([...COLD_START_LEVERS, ...TRIMMINGS]);
  const coldStartOnly = await sizesWith(COLD_START_LEVERS);
  const unreduced = await sizesWith([]);
  const names = Object.keys(deployed).sort();
  printTable(names, {
    deployed: (name) => deployed[name] ?? 0,
    'cold-start plugins only': (name) => coldStartOnly[name] ?? 0,
    'no plugin': (name) => unreduced[name] ?? 0,
  });
  const savings: Record<string, (name: string) => number> = {};
  for (const plugin of TRIMMINGS) {
    const without = await sizesWith([...COLD_START_LEVERS, ...TRIMMINGS.filter((other) => other !== plugin)]);
    savings[plugin.name] = (name) => (without[name] ?? 0) - (deployed[name] ?? 0);
  }
  console.log('\nSaved by');
  printTable(names, savings);
} finally {
  await rm(folder, { recursive: true, force: true });
}
