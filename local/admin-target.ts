import { join } from 'node:path';
import * as v from 'valibot';
import { readIfThere, writePrivateJson } from './private-file.ts';

/** The addresses by which the admin CLI reaches the local service. The file is private. */
const adminTargetSchema = v.object({
  base_url: v.pipe(v.string(), v.url()),
  dynamodb_endpoint: v.pipe(v.string(), v.url()),
  table_name: v.pipe(v.string(), v.minLength(1)),
  /** The absolute path of the file with the hash secret. */
  hash_secret_path: v.pipe(v.string(), v.minLength(1)),
});

/** The content of the file. */
export type AdminTarget = v.InferOutput<typeof adminTargetSchema>;

const FILE_NAME = 'admin.json';

/** Writes the file for the CLI. `npm start` calls it once the service responds. `folder`: `.local`. */
export const writeAdminTarget = (folder: string, target: AdminTarget): Promise<void> =>
  writePrivateJson(join(folder, FILE_NAME), target);

/** Reads the file; undefined if the service was never started with this folder. */
export const readAdminTarget = async (folder: string): Promise<AdminTarget | undefined> => {
  const text = await readIfThere(join(folder, FILE_NAME));
  return text === undefined ? undefined : v.parse(adminTargetSchema, JSON.parse(text));
};
