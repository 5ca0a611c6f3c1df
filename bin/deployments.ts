import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AdminError } from '#admin/admin-error.ts';
import type { Connection, Deployments, TargetOptions } from '#admin/cli/connection.ts';
import { UsageError } from '#admin/cli/errors.ts';
import type { Config } from '#lib/config.ts';

/** The default data folder of `npm start`. */
const DEFAULT_FOLDER = fileURLToPath(new URL('../.local', import.meta.url));

const loadConfig = async (stage: string): Promise<Config> => {
  const config = await import('#lib/config.ts');
  try {
    return config.configOf(stage);
  } catch (error) {
    if (error instanceof config.ConfigError)
      throw new AdminError('bad_input', error.message, { cause: error });
    throw error;
  }
};

const connectStage = async (stage: string, options: TargetOptions): Promise<Connection> => {
  const { account, region } = await loadConfig(stage);
  const [{ connectAws }, names] = await Promise.all([
    import('#admin/cli/connect-aws.ts'),
    import('#lib/outputs.ts'),
  ]);
  return connectAws(names, { stage, account, region }, options);
};

/** What the CLI reaches: the stages of lib/stages.ts and the local service. Loads the SDK only for a connection, so `--help` stays fast. */
export const deployments: Deployments = {
  async connect(options) {
    const { stage, local = false, data: folder = DEFAULT_FOLDER } = options;
    if (stage !== undefined && local) throw new UsageError('--local and --stage exclude each other.');
    if (stage !== undefined) return connectStage(stage, options);
    if (!existsSync(join(folder, 'demo.json'))) {
      const [place, start] =
        options.data === undefined ? ['', 'npm start'] : [` in ${folder}`, `npm start -- --data ${folder}`];
      const sentence = `The local service is not running${place}. Start it with ${start}`;
      if (local) throw new AdminError('not_reachable', `${sentence}.`);
      throw new UsageError(`${sentence}, or name a stage: --stage prod.`);
    }
    return (await import('#local/administration.ts')).connectLocal(folder);
  },
  async openProviderSecret(stage, options) {
    const config = await loadConfig(stage);
    const { secretsClientOf } = await import('#admin/cli/connect-aws.ts');
    const client = await secretsClientOf({ ...config, stage }, options);
    return { stage, secretName: config.providers.secretName, client };
  },
};
