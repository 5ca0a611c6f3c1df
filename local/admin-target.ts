import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { KEY_PREFIXES } from '#shared/api-keys/format.ts';
import { readIfThere, writePrivateFile } from './private-file.ts';

/** What the admin's CLI needs of the service that runs on this machine. No secret stands in it, only where one is. */
const adminTargetSchema = v.object({
  base_url: v.pipe(v.string(), v.url()),
  /** `<base_url>/_local/aws`: see control-plane.ts. */
  control_plane_url: v.pipe(v.string(), v.url()),
  dynamodb_endpoint: v.pipe(v.string(), v.url()),
  table_name: v.pipe(v.string(), v.minLength(1)),
  key_prefix: v.picklist(KEY_PREFIXES),
  /** The path of the file with the hash secret, absolute. */
  digest_secret_path: v.pipe(v.string(), v.minLength(1)),
});

export type AdminTarget = v.InferOutput<typeof adminTargetSchema>;

const FILE_NAME = 'admin.json';

/** Says where the service is, for the CLI. `npm start` calls it once the service answers. `folder`: `.local`. */
export const writeAdminTarget = async (folder: string, target: AdminTarget): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await writePrivateFile(
    join(folder, FILE_NAME),
    `${JSON.stringify(v.parse(adminTargetSchema, target), null, 2)}\n`,
  );
};

/** Where the local service is, or undefined if it was never started from this folder. */
export const readAdminTarget = async (folder: string): Promise<AdminTarget | undefined> => {
  const text = await readIfThere(join(folder, FILE_NAME));
  return text === undefined ? undefined : v.parse(adminTargetSchema, JSON.parse(text));
};
