import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Connection, TargetOptions } from '#admin/cli/connection.ts';
import { UsageError } from '#admin/cli/errors.ts';
import { refusal } from '#admin/refusal.ts';

/** The default data folder of `npm start`. */
const DEFAULT_FOLDER = fileURLToPath(new URL('../../.local', import.meta.url));

/** Connects to the stage of `--stage`, or to the local service. Loads the SDK, so `--help` stays fast. */
export const connect = async (options: TargetOptions): Promise<Connection> => {
  const { stage, local = false, data: folder = DEFAULT_FOLDER } = options;
  if (stage !== undefined && local) throw new UsageError('--local and --stage exclude each other.');
  if (stage !== undefined) return (await import('./connect-aws.ts')).connectAws(stage, options);
  if (!existsSync(join(folder, 'demo.json'))) {
    const sentence = 'The local service is not running. Start it with npm start';
    if (local) throw refusal('not_reachable', `${sentence}.`);
    throw new UsageError(`${sentence}, or name a stage: --stage prod.`);
  }
  return (await import('./connect-local.ts')).connectLocal(folder);
};
