import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COLD_START_LEVERS } from '#lib/bundle-plugins.ts';
import { bundleFunctions } from '#lib/bundling.ts';

/** `npm run bench:bundles`: what each function weighs as deployed, with the two cold-start levers alone, and with nothing taken out. */
const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bench-'));
try {
  const [deployed, levers, whole] = [
    await bundleFunctions({ outDir: join(folder, 'deployed') }),
    await bundleFunctions({ outDir: join(folder, 'levers'), plugins: COLD_START_LEVERS }),
    await bundleFunctions({ outDir: join(folder, 'whole'), plugins: [] }),
  ];
  const kilobytes = (bytes = 0): string => `${Math.round(bytes / 1000)}`.padStart(12);
  console.log(
    `${'KB'.padEnd(16)}${'deployed'.padStart(12)}${'levers only'.padStart(12)}${'whole'.padStart(12)}`,
  );
  for (const name of Object.keys(deployed.sizes).sort()) {
    const sizes = [deployed, levers, whole].map((bundles) => kilobytes(bundles.sizes[name]));
    console.log(`${name.padEnd(16)}${sizes.join('')}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
