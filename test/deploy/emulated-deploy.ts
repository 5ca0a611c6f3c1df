import { mkdtemp, rm } from 'node:fs/promises';
import '#test/runner/compile-cache.ts';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertRefused, breakVersions } from './broken-versions.ts';
import { runCommand, withThisNode } from './command.ts';
import { deployedUrl, lacksOf } from './deployed-target.ts';
import { adaptTemplates, MINISTACK_LACKS, startEmulator } from './emulator.ts';
import { readResults } from './scenario-results.ts';
import { assertNotDeployed, STAGE } from './stage.ts';
import { step } from './step.ts';

/**
 * `npm run test:deploy` runs `cdk bootstrap` and `cdk deploy`, first with three broken versions, which the check before traffic must refuse. Then
 * it runs every scenario against the deployed URL and deletes the stage.
 *
 * - By default it uses MiniStack, an emulator from PyPI that it starts and stops.
 * - With AWS_ENDPOINT_URL it uses the emulator at that URL (AWS Emulator, LocalStack).
 * - With `--aws` (`npm run test:deploy -- --aws`) it uses the AWS account of your credentials. This costs money.
 *
 * Every other argument is passed to Jest: `npm run test:deploy -- --json --outputFile=result.json`. Each step prints one line; the
 * output of its command is printed only if it fails.
 */

const { resolve } = createRequire(import.meta.url);
const CDK = resolve('aws-cdk/bin/cdk');
const JEST = resolve('jest/bin/jest');
const SMOKE = fileURLToPath(new URL('../../bin/smoke.ts', import.meta.url));

const AWS_FLAG = '--aws';
const OUTPUT_FILE = '--outputFile=';
const jestArguments = process.argv.slice(2).filter((argument) => argument !== AWS_FLAG);

/** Where the stage is deployed to. */
interface Environment {
  readonly name: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The features that it does not have, whatever the stage; scenarios that need one are skipped by name. */
  readonly lacks: readonly string[];
  /** `aws://<account>/<region>`, or empty if the CLI looks it up. */
  readonly bootstrap: readonly string[];
  /** Clears what a failed deploy left: a rollback of MiniStack cannot be followed by a deploy. */
  readonly reset?: () => Promise<void>;
  /** Whether the stacks must be deleted at the end; MiniStack loses them when it stops. */
  readonly needsCleanup: boolean;
  stop(): Promise<void>;
}

const nothing = async (): Promise<void> => {};

const onMiniStack = async (folder: string): Promise<Environment> => {
  const { account, endpoint, environment, reset, stop } = await step('install and start MiniStack', () =>
    startEmulator(folder),
  );
  return {
    name: `MiniStack at ${endpoint}`,
    variables: environment,
    lacks: MINISTACK_LACKS,
    bootstrap: [`aws://${account}/${environment.AWS_REGION}`],
    reset,
    needsCleanup: false,
    stop,
  };
};

const onOtherEmulator = (endpoint: string): Environment => ({
  name: `the emulator at ${endpoint}`,
  variables: {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    ...process.env,
    AWS_ENDPOINT_URL: endpoint,
  },
  lacks: (process.env.DEPLOY_LACKS ?? '').split(',').filter((feature) => feature !== ''),
  bootstrap: [],
  needsCleanup: true,
  stop: nothing,
});

const onAws = (): Environment => ({
  name: 'AWS, in the account of your credentials',
  variables: {},
  lacks: [],
  bootstrap: [],
  needsCleanup: true,
  stop: nothing,
});

const chooseEnvironment = (folder: string): Promise<Environment> | Environment => {
  if (process.argv.includes(AWS_FLAG)) return onAws();
  const endpoint = process.env.AWS_ENDPOINT_URL;
  return endpoint === undefined ? onMiniStack(folder) : onOtherEmulator(endpoint);
};

/** Runs the scenarios and prints how many passed, and the names of those that were skipped. */
const runScenarios = async (
  { lacks }: Environment,
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
): Promise<void> => {
  const given = jestArguments.find((argument) => argument.startsWith(OUTPUT_FILE))?.slice(OUTPUT_FILE.length);
  const file = given ?? join(folder, 'result.json');
  await step('scenarios', async () => {
    await runCommand(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        JEST,
        '--testMatch',
        '<rootDir>/test/deploy/*.scenarios.ts',
        ...(given === undefined ? ['--json', `${OUTPUT_FILE}${file}`] : []),
        ...jestArguments,
      ],
      { env: { ...env, DEPLOY_LACKS: [...lacks, ...lacksOf(STAGE)].join(',') } },
    );
  });
  process.stdout.write(await readResults(file));
};

const deployAndCall = async (target: Environment, folder: string): Promise<void> => {
  const env = { ...withThisNode(), ...target.variables, CI: 'true', FORCE_COLOR: '0' };
  const out = join(folder, 'cdk.out');
  const run = (command: string, ...args: string[]) =>
    runCommand(
      process.execPath,
      [
        CDK,
        command,
        ...args,
        '-c',
        `stage=${STAGE}`,
        ...(args.includes('--app') ? [] : ['-o', out]),
        '--no-notices',
      ],
      { env },
    );
  const cdk = (command: string, ...args: string[]) => step(`cdk ${command}`, () => run(command, ...args));
  const deploy = (app: string) =>
    run('deploy', '--all', '--app', app, '--require-approval', 'never', '--progress', 'bar');
  // The scenarios' own AWS clients use the emulator too.
  Object.assign(process.env, target.variables);
  await assertNotDeployed();
  try {
    // test/lib/stages.templates.ts applies the rules of CloudFormation, which take four CPU seconds.
    await cdk('synth', '--quiet', '--no-validation');
    const bootstrap = () => cdk('bootstrap', ...target.bootstrap, '--app', out);
    await bootstrap();
    if (target.lacks.length > 0) await adaptTemplates(out);
    const broken = await breakVersions(out);
    await step('deploy of broken versions', () => assertRefused(() => deploy(broken)));
    if (target.reset !== undefined) {
      await target.reset();
      await bootstrap();
    }
    await step('cdk deploy', () => deploy(out));
    await runScenarios(target, env, folder);
    const smoke = [SMOKE, '--stage', STAGE, '--url', await deployedUrl(STAGE)];
    if (target.lacks.length > 0) smoke.push('--emulator');
    await step('smoke test', () => runCommand(process.execPath, smoke, { env }));
  } finally {
    if (target.needsCleanup) await cdk('destroy', '--all', '--force');
  }
};

const main = async (): Promise<void> => {
  const startedAt = Date.now();
  const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-deploy-'));
  let target: Environment | undefined;
  const stop = async (): Promise<void> => {
    await target?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stop().finally(() => process.exit(130)));
  }
  try {
    target = await chooseEnvironment(folder);
    console.log(`Deploying to ${target.name}.`);
    await deployAndCall(target, folder);
    console.log(`Deployed, tested and removed in ${Math.round((Date.now() - startedAt) / 1000)} s.`);
  } finally {
    await stop();
  }
};

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
