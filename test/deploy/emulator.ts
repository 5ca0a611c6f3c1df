import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '#test/local/free-port.ts';
import type { Feature } from '#test/scenarios/target.ts';
import { withThisNode } from './command.ts';
import { startGroup } from './process-group.ts';
import { makePythonEnvironment } from './python.ts';

/**
 * MiniStack, and the library with which its KMS makes key pairs. 1.5.33 has throttles and gateway responses, but takes the API key from the
 * header X-Api-Key only and not from the authorizer, so that it refuses every request with a key.
 */
const PACKAGES = ['ministack==1.4.21', 'cryptography==50.0.2'];

const ACCOUNT = '000000000000';
const REGION = 'us-east-1';

/** The time that MiniStack has to start. */
const START_TIMEOUT_MS = 30_000;

/**
 * The features of API Gateway that MiniStack does not have. Scenarios that need one are skipped by name; test/lib checks the templates
 * instead.
 */
export const MINISTACK_LACKS: readonly Feature[] = [
  // It stores gateway responses and does not apply them: test/lib/gateway-responses.test.ts.
  'gateway problem bodies',
  // It ignores apiKeySourceType and accepts any usage id: test/lib/rest-api.test.ts, "the authorizer".
  'exact key enforcement',
];

interface MetricStat {
  readonly Metric: object;
  readonly Period: number;
  readonly Stat: string;
}

interface Resource {
  readonly Type: string;
  readonly Properties: {
    readonly [name: string]: unknown;
    readonly Metrics?: readonly { readonly MetricStat?: MetricStat }[];
  };
}

/** Gives an alarm on metric math its first metric. */
const withOneMetric = (resource: Resource): Resource => {
  const { Metrics = [], ...properties } = resource.Properties;
  const [first] = Metrics.flatMap(({ MetricStat }) => MetricStat ?? []);
  if (first === undefined) return resource;
  const { Metric, Period, Stat } = first;
  return { ...resource, Properties: { ...properties, ...Metric, Period, Statistic: Stat } };
};

/**
 * Changes the templates of a folder that `cdk synth` wrote to what MiniStack can make: its CloudFormation has no query definitions and no
 * alarms on metric math. test/lib checks them.
 */
export const adaptTemplates = async (folder: string): Promise<void> => {
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.template.json'))) {
    const file = join(folder, name);
    const template: { Resources: Record<string, Resource> } = JSON.parse(await readFile(file, 'utf8'));
    const resources = Object.entries(template.Resources)
      .filter(([, { Type }]) => Type !== 'AWS::Logs::QueryDefinition')
      .map(([id, each]) => [id, each.Type === 'AWS::CloudWatch::Alarm' ? withOneMetric(each) : each]);
    await writeFile(file, JSON.stringify({ ...template, Resources: Object.fromEntries(resources) }));
  }
};

export interface Emulator {
  readonly endpoint: string;
  readonly account: string;
  /** The environment with which a command uses the emulator and nothing else. */
  readonly environment: Readonly<Record<string, string>>;
  /** Empties it. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

const untilHealthy = async (endpoint: string, hasEnded: () => boolean): Promise<void> => {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline && !hasEnded()) {
    const response = await fetch(`${endpoint}/_ministack/health`).catch(() => undefined);
    if (response?.ok) return;
    await sleep(200);
  }
  throw new Error('MiniStack did not start');
};

/** Returns invalid credentials and the emulator's endpoint for every service. */
const environmentFor = (endpoint: string): Record<string, string> => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: REGION,
  AWS_DEFAULT_REGION: REGION,
  AWS_EC2_METADATA_DISABLED: 'true',
});

/** Returns the settings with which MiniStack listens on the loopback address only and writes to `home` only. */
const settingsFor = (port: number, home: string): Record<string, string> => ({
  HOME: home,
  TMPDIR: home,
  TEMP: home,
  TMP: home,
  BIND_HOST: '127.0.0.1',
  GATEWAY_PORT: String(port),
  LAMBDA_EXECUTOR: 'local',
  MINISTACK_ACCOUNT_ID: ACCOUNT,
  MINISTACK_REGION: REGION,
  // It starts functions from folders of its own, which no later run has.
  NODE_DISABLE_COMPILE_CACHE: '1',
  // Servers that the test does not use and that would open ports.
  IOT_MTLS_ENABLED: '0',
  SFTP_ENABLED: '0',
});

/** Installs MiniStack from PyPI and starts it on a free port of the loopback address. It writes to `folder` only. */
export const startEmulator = async (folder: string): Promise<Emulator> => {
  const programs = await makePythonEnvironment(join(folder, 'python'), PACKAGES);
  const home = join(folder, 'home');
  await mkdir(home);
  // Where it unpacks functions: the one of CDK that runs a trigger takes the SDK from Lambda.
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(home, 'node_modules'));
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const environment = environmentFor(endpoint);
  const group = startGroup(join(programs, 'ministack'), {
    ...withThisNode(),
    ...environment,
    ...settingsFor(port, home),
  });
  try {
    await untilHealthy(endpoint, group.hasEnded);
  } catch (error) {
    await group.stop();
    throw error;
  }
  const reset = async (): Promise<void> => {
    const { ok } = await fetch(`${endpoint}/_ministack/reset`, { method: 'POST' });
    if (!ok) throw new Error('MiniStack was not emptied');
  };
  return { endpoint, account: ACCOUNT, environment, reset, stop: group.stop };
};
