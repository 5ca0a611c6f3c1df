import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refusal } from '#admin/operations/refusal.ts';
import type { Connection, TargetOptions } from './connection.ts';
import { UsageError } from './errors.ts';

/** The default data folder of `npm start`. */
const DEFAULT_FOLDER = fileURLToPath(new URL('../../.local', import.meta.url));

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** Connects to the stage of `--stage`, or to the local service. Loads the SDK, so `--help` stays fast. */
export const connect = async (options: TargetOptions): Promise<Connection> => {
  if (options.stage !== undefined && options.local)
    throw new UsageError('--local and --stage exclude each other.');
  if (options.stage !== undefined)
    return (await import('./connect-aws.ts')).connectAws(options.stage, options);
  const folder = options.data ?? DEFAULT_FOLDER;
  const isRunning = await exists(join(folder, 'demo.json'));
  if (!isRunning && !options.local) {
    throw new UsageError(
      'The local service is not running. Start it with npm start, or name a stage: --stage prod.',
    );
  }
  if (!isRunning)
    throw refusal('not_reachable', 'The local service is not running. Start it with npm start.');
  return (await import('./connect-local.ts')).connectLocal(folder);
};
