import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { COLD_START_LEVERS, TRIMMINGS } from '#lib/bundle-plugins.ts';
import { bundleFunctions } from '#lib/bundling.ts';
import { figure, report } from './harness/report.ts';

/**
 * `npm run bench:bundles` prints the bundle size of each function: as deployed, with the two cold-start plugins alone, and without any
 * plugin. Then it prints the bytes that each of the other plugins saves by itself.
 */
const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bench-'));

const sizesWith = async (plugins: readonly Plugin[]) =>
  (await bundleFunctions({ outDir: join(folder, 'bundles'), plugins })).sizes;

type Column = (name: string) => number;

const tableOf = (
  title: string,
  names: readonly string[],
  columns: Readonly<Record<string, Column>>,
): string[][] => [
  [title, ...Object.keys(columns)],
  ...names.map((name) => [name, ...Object.values(columns).map((sizeOf) => figure(sizeOf(name)))]),
];

try {
  const deployed = await sizesWith([...COLD_START_LEVERS, ...TRIMMINGS]);
  const coldStartOnly = await sizesWith(COLD_START_LEVERS);
  const unreduced = await sizesWith([]);
  const names = Object.keys(deployed).sort();
  const sizes: Record<string, Column> = {
    deployed: (name) => deployed[name] ?? 0,
    'cold-start plugins only': (name) => coldStartOnly[name] ?? 0,
    'no plugin': (name) => unreduced[name] ?? 0,
  };
  const savings: Record<string, Column> = {};
  for (const plugin of TRIMMINGS) {
    const without = await sizesWith([...COLD_START_LEVERS, ...TRIMMINGS.filter((other) => other !== plugin)]);
    savings[plugin.name] = (name) => (without[name] ?? 0) - (deployed[name] ?? 0);
  }
  report(
    'bundles',
    'Bytes of minified JavaScript.',
    tableOf('function', names, sizes),
    tableOf('saved by', names, savings),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
