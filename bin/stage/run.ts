import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { requireProviderSecret, TargetError, targetOf } from '#bin/admin/target.ts';
import type { Terminal } from '#bin/admin/terminal.ts';
import { type Config, ConfigError } from '#lib/config.ts';
import { apiStackName, dataStackName } from '#lib/outputs.ts';
import { configOf, STAGE_NAMES } from '#lib/stages.ts';

/** Runs the CDK CLI with these arguments and returns its exit code. */
export type RunCdk = (
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
) => Promise<number>;

/** What a command uses outside itself. A test passes its own. */
export interface Surroundings {
  readonly terminal: Pick<Terminal, 'out' | 'error' | 'isInteractive'>;
  readonly cdk: RunCdk;
}

interface Options {
  readonly stage?: string;
  readonly config?: readonly (readonly [name: string, value: string])[];
  readonly only?: 'api' | 'data';
  readonly profile?: string;
  readonly region?: string;
  readonly yes?: boolean;
}

const parseChange = (text: string, before: Options['config'] = []): Options['config'] => {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('It must look like canary=true.');
  if (name === 'stage') throw new InvalidArgumentError('Name the stage with --stage.');
  return [...before, [name, value]];
};

const parseStack = (text: string): 'api' | 'data' => {
  if (text === 'api' || text === 'data') return text;
  throw new InvalidArgumentError('The stacks of a stage are api and data.');
};

/** The arguments of the CDK CLI that every command has. A stage has an output folder of its own. */
const cdkArguments = ({ stage }: Config, { config = [], only }: Options): readonly string[] => [
  ...(only === undefined ? [] : ['--exclusively', (only === 'api' ? apiStackName : dataStackName)(stage)]),
  ...[['stage', stage], ...config].flatMap(([name, value]) => ['--context', `${name}=${value}`]),
  '--output',
  `cdk.out/${stage}`,
];

/** Returns the config of `--stage`, in which `-c` replaces options. Throws ConfigError. */
const chosen = ({ stage, config = [] }: Options): Config => configOf(stage, Object.fromEntries(config));

/** Checks stage, config, Region and account, in this order and before anything is built. */
const checked = async (options: Options) => {
  const config = chosen(options);
  const { profile, region = process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION } = options;
  // Every AWS client of this process reads these.
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  if (region !== undefined) process.env.AWS_REGION = region;
  const target = await targetOf(config);
  return { config, target, environment: { AWS_REGION: target.region } };
};

const synth = async (options: Options, { cdk }: Surroundings): Promise<number> => {
  const configs = (options.stage === undefined ? STAGE_NAMES : [options.stage]).map((stage) =>
    chosen({ ...options, stage }),
  );
  for (const config of configs) {
    const exitCode = await cdk(['synth', '--quiet', ...cdkArguments(config, options)], {});
    if (exitCode !== 0) return exitCode;
  }
  return 0;
};

const diff = async (options: Options, { cdk }: Surroundings): Promise<number> => {
  const { config, environment } = await checked(options);
  return cdk(['diff', ...cdkArguments(config, options)], environment);
};

const deploy = async (options: Options, { cdk, terminal }: Surroundings): Promise<number> => {
  const { config, target, environment } = await checked(options);
  if (!options.yes && !terminal.isInteractive) {
    throw new TargetError(
      'There is no terminal to confirm permission changes on. Read the diff, then add --yes.',
    );
  }
  await requireProviderSecret(config, target);
  terminal.out(`Deploying stage ${config.stage} to account ${target.account}, Region ${target.region}.\n`);
  const approval = options.yes ? 'never' : 'broadening';
  const stacks = options.only === undefined ? ['--all'] : [];
  return cdk(
    ['deploy', ...stacks, '--require-approval', approval, ...cdkArguments(config, options)],
    environment,
  );
};

const COMMANDS = [
  ['synth', synth, 'Build and check the templates of a stage, or of every stage.'],
  ['diff', diff, 'Compare a stage with what is deployed.'],
  ['deploy', deploy, 'Deploy a stage. Shows changes that broaden permissions and asks.'],
] as const;

const programFor = (surroundings: Surroundings, ended: (exitCode: number) => void): Command => {
  const { terminal } = surroundings;
  const program = new Command('npm run').exitOverride().helpCommand(false);
  for (const [name, work, description] of COMMANDS) {
    const command = program
      .command(name)
      .usage('-- --stage <name> [options]')
      .description(description)
      .option('--stage <name>', `the stage: ${STAGE_NAMES.join(', ')}`)
      .option('-c, --config <option=value>', 'replace an option of lib/stages.ts for this run', parseChange)
      .option('--only <stack>', 'only this stack: api or data', parseStack)
      .exitOverride()
      .showHelpAfterError('Try --help.')
      .configureOutput({ writeOut: terminal.out, writeErr: terminal.error })
      .action(async (options: Options) => ended(await work(options, surroundings)));
    if (name !== 'synth') {
      command.option('--profile <name>', 'the AWS profile').option('--region <name>', 'the AWS Region');
    }
    if (name === 'deploy') command.option('--yes', 'do not ask');
  }
  return program;
};

/** Runs one command line and returns its exit code. A wrong stage, config or target is one sentence, and nothing is changed. */
export const run = async (args: readonly string[], surroundings: Surroundings): Promise<number> => {
  let exitCode = 0;
  try {
    await programFor(surroundings, (code) => {
      exitCode = code;
    }).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.code === 'commander.helpDisplayed' ? 0 : 2;
    if (!(error instanceof ConfigError || error instanceof TargetError)) throw error;
    surroundings.terminal.error(`error: ${error.message}\n`);
    return 1;
  }
};
