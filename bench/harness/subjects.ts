import { randomUUID } from 'node:crypto';
import { mkdtemp, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { bundleFunctions } from '#lib/bundling.ts';
import { bareHandler } from './bare-handler.ts';
import { type Recording, ROOT } from './recording.ts';

/** A bundle and the calls that are replayed to it. */
export interface Subject {
  readonly recording: Recording;
  readonly file: string;
  readonly bytes: number;
}

/** Bundles the source of a function that makes the calls of a recording, with the plugins of a deploy unless others are given. */
export const bundle = async (
  folder: string,
  recording: Recording,
  source: string,
  plugins?: readonly Plugin[],
): Promise<Subject> => {
  const outDir = await mkdtemp(join(folder, 'bundle-'));
  const { name } = recording.operation;
  const entries = { [name]: source };
  const { folderOf } = await bundleFunctions({ outDir, entries, ...(plugins && { plugins }) });
  const file = join(folderOf(name), 'index.mjs');
  return { recording, file, bytes: (await stat(file)).size };
};

/** Bundles the function of a recording as it is deployed. */
export const bundleDeployed = (folder: string, recording: Recording): Promise<Subject> =>
  bundle(folder, recording, join(ROOT, 'functions', `${recording.operation.name}.ts`));

/** Bundles the bare handler of a recording as a project without our plugins would. */
export const bundleBare = async (folder: string, recording: Recording): Promise<Subject> => {
  const source = join(folder, `${randomUUID()}.mjs`);
  await writeFile(source, bareHandler(recording.first));
  return bundle(folder, recording, source, []);
};
