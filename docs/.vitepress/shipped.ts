import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { BUILD_FILE, type SiteBuild } from '../../shared/docs/site.ts';

/** `/…/node_modules/@vueuse/core/index.mjs` -> `@vueuse/core`; undefined for a file of this repository. */
const packageOf = (id: string): string | undefined => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];

/** Writes which packages have code in the scripts and styles of the pages: SECURITY.md lists them, and CI audits them. */
export const shippedPackages = (): Plugin => ({
  name: 'shipped-packages',
  apply: (_config, { isSsrBuild }) => isSsrBuild !== true,
  async generateBundle({ dir: folder = '' }, bundle) {
    const ids = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    const packages = [...new Set(ids.map(packageOf))].filter((name) => name !== undefined).sort();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, BUILD_FILE), JSON.stringify({ packages } satisfies Partial<SiteBuild>));
  },
});
