import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { COLD_START_LEVERS, TRIMMINGS } from '#lib/bundle-plugins.ts';
import { type Bundles, bundleFunctions } from '#lib/bundling.ts';
import { figure, report } from './harness/report.ts';

/**
 * `npm run bench:bundles` prints the bundle size of each function: as deployed, with the two cold-start plugins alone, and without any
 * plugin. Then it prints the bytes that each of the other plugins saves by itself.
 */
type Sizes = Bundles['sizes'];

const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bench-'));
const sizesWith = async (plugins: readonly Plugin[]): Promise<Sizes> =>
  (await bundleFunctions({ outDir: join(folder, 'bundles'), plugins })).sizes;

const tableOf = (title: string, names: readonly string[], columns: Readonly<Record<string, Sizes>>) => [
  [title, ...Object.keys(columns)],
  ...names.map((name) => [name, ...Object.values(columns).map((sizes) => figure(sizes[name] ?? 0))]),
];

try {
  const deployed = await sizesWith([...COLD_START_LEVERS, ...TRIMMINGS]);
  const names = Object.keys(deployed).sort();
  const sizes = {
    deployed,
    'cold-start plugins only': await sizesWith(COLD_START_LEVERS),
    'no plugin': await sizesWith([]),
  };
  const savings: Record<string, Sizes> = {};
  for (const plugin of TRIMMINGS) {
    const without = await sizesWith([...COLD_START_LEVERS, ...TRIMMINGS.filter((other) => other !== plugin)]);
    const saved = names.map((name) => [name, (without[name] ?? 0) - (deployed[name] ?? 0)]);
    savings[plugin.name] = Object.fromEntries(saved);
  }
  const tables = [tableOf('function', names, sizes), tableOf('saved by', names, savings)];
  report('bundles', 'Bytes of minified JavaScript.', ...tables);
} finally {
  await rm(folder, { recursive: true, force: true });
}
