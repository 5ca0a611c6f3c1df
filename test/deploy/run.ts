import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, withThisNode } from './command.ts';
import { MINISTACK_LACKS, startEmulator } from './emulator.ts';
import { assertNotDeployed, STAGE } from './stage.ts';

/**
 * `npm run test:deploy`: a real `cdk bootstrap` and `cdk deploy`, every scenario against the deployed URL, and nothing left behind.
 *
 * - by itself: on MiniStack, an emulator from PyPI that it starts and stops;
 * - with AWS_ENDPOINT_URL: on the emulator that answers there (AWS Emulator, LocalStack);
 * - with `--aws` (`npm run test:deploy -- --aws`): on AWS, in the account of your credentials. It costs money, so it must be asked for.
 *
 * Every other argument is Jest's: `npm run test:deploy -- --json --outputFile=result.json`.
 */

const { resolve } = createRequire(import.meta.url);
const CDK = resolve('aws-cdk/bin/cdk');
const JEST = resolve('jest/bin/jest');

const AWS_FLAG = '--aws';
const jestArguments = process.argv.slice(2).filter((argument) => argument !== AWS_FLAG);

interface Place {
  readonly name: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Scenarios that need one of these are skipped, by name. */
  readonly lacks: readonly string[];
  /** `aws://<account>/<region>`, or nothing where the CLI finds it out. */
  readonly bootstrap: readonly string[];
  /** Whether the stacks must be deleted afterwards; MiniStack forgets them when it ends. */
  readonly mustBeEmptied: boolean;
  leave(): Promise<void>;
}

const nothing = async (): Promise<void> => {};

const onMiniStack = async (folder: string): Promise<Place> => {
  console.log('Making MiniStack ready in a virtual environment…');
  const { account, endpoint, environment, stop } = await startEmulator(folder);
  return {
    name: `MiniStack at ${endpoint}`,
    environment,
    lacks: MINISTACK_LACKS,
    bootstrap: [`aws://${account}/${environment.AWS_REGION}`],
    mustBeEmptied: false,
    leave: stop,
  };
};

const onOtherEmulator = (endpoint: string): Place => ({
  name: `the emulator at ${endpoint}`,
  environment: {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    ...process.env,
    AWS_ENDPOINT_URL: endpoint,
  },
  lacks: (process.env.DEPLOY_LACKS ?? '').split(',').filter((feature) => feature !== ''),
  bootstrap: [],
  mustBeEmptied: true,
  leave: nothing,
});

const onAws = (): Place => ({
  name: 'AWS, in the account of your credentials',
  environment: {},
  // The functions cannot reach the simulators on this machine, and no real person may be checked or called by a test.
  lacks: ['sent messages', 'test identities'],
  bootstrap: [],
  mustBeEmptied: true,
  leave: nothing,
});

const choosePlace = (folder: string): Promise<Place> | Place => {
  if (process.argv.includes(AWS_FLAG)) return onAws();
  const endpoint = process.env.AWS_ENDPOINT_URL;
  return endpoint === undefined ? onMiniStack(folder) : onOtherEmulator(endpoint);
};

const deployAndCall = async (place: Place, folder: string): Promise<void> => {
  const env = { ...withThisNode(), ...place.environment, CI: 'true', FORCE_COLOR: '0' };
  const cdk = (...args: string[]) =>
    runCommand(
      process.execPath,
      [CDK, ...args, '-c', `stage=${STAGE}`, '-o', join(folder, 'cdk.out'), '--no-notices'],
      { env, label: `cdk ${args[0]}` },
    );
  // An emulator's address and credentials count for this process too.
  Object.assign(process.env, place.environment);
  await assertNotDeployed();
  try {
    await cdk('bootstrap', ...place.bootstrap);
    await cdk('deploy', '--all', '--require-approval', 'never', '--progress', 'bar');
    await runCommand(
      process.execPath,
      [
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
        JEST,
        '--testMatch',
        '<rootDir>/test/deploy/*.scenarios.ts',
        ...jestArguments,
      ],
      { env: { ...env, DEPLOY_LACKS: place.lacks.join(',') }, label: 'scenarios' },
    );
  } finally {
    if (place.mustBeEmptied) await cdk('destroy', '--all', '--force');
  }
};

const main = async (): Promise<void> => {
  const startedAt = Date.now();
  const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-deploy-'));
  let place: Place | undefined;
  const leave = async (): Promise<void> => {
    await place?.leave();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => leave().finally(() => process.exit(130)));
  }
  try {
    place = await choosePlace(folder);
    console.log(`Deploying to ${place.name}.`);
    await deployAndCall(place, folder);
    console.log(`Deployed, called and left in ${Math.round((Date.now() - startedAt) / 1000)} s.`);
  } finally {
    await leave();
  }
};

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
