import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refusal } from '#admin/operations/refusal.ts';
import type { Connection, TargetOptions } from './connection.ts';
import { UsageError } from './usage-error.ts';

/** The same as `npm start` takes. */
const DEFAULT_FOLDER = fileURLToPath(new URL('../../.local', import.meta.url));

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** Connects to what the options name: `--stage`, `--local`, or the local service if it runs. The SDK is loaded only now. */
export const connect = async (options: TargetOptions): Promise<Connection> => {
  if (options.stage !== undefined && options.local)
    throw new UsageError('Give --local or --stage, not both.');
  if (options.stage !== undefined)
    return (await import('./connect-aws.ts')).connectAws(options.stage, options);
  const folder = options.data ?? DEFAULT_FOLDER;
  const isRunning = await exists(join(folder, 'demo.json'));
  if (!isRunning && !options.local) {
    throw new UsageError(
      'No local service runs here. Start it (npm start), or name a deployment: --stage prod.',
    );
  }
  if (!isRunning) throw refusal('not_reachable', 'The local service does not run. Start it with npm start.');
  return (await import('./connect-local.ts')).connectLocal(folder);
};
