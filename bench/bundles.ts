import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { PLUGINS } from '#lib/bundle-plugins.ts';
import { bundleFunctions } from '#lib/bundling.ts';
import { figure, report } from './harness/report.ts';

/**
 * `npm run bench:bundles` prints the size of each bundle that is deployed, and the bytes that each plugin saves: it bundles once without
 * that plugin. With `--write`, ADR 7 shows it.
 */
const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bench-'));
const sizesWith = async (chosen: readonly Plugin[]) =>
  (await bundleFunctions({ outDir: join(folder, 'bundles'), plugins: chosen })).sizes;

try {
  const deployed = await sizesWith(PLUGINS);
  const names = Object.keys(deployed).sort();
  const savedWith = async (chosen: readonly Plugin[]): Promise<string[]> => {
    const sizes = await sizesWith(chosen);
    return names.map((name) => figure((sizes[name] ?? 0) - (deployed[name] ?? 0)));
  };
  const columns = [
    ['function', ...names],
    ['deployed', ...names.map((name) => figure(deployed[name] ?? 0))],
  ];
  for (const plugin of PLUGINS) {
    columns.push([plugin.name, ...(await savedWith(PLUGINS.filter((other) => other !== plugin)))]);
  }
  const rows = ['', ...names].map((_, row) => columns.map((column) => column[row] ?? ''));
  report('bundles', 'Bytes of minified JavaScript, and those that each plugin saves by itself.', rows);
} finally {
  await rm(folder, { recursive: true, force: true });
}
