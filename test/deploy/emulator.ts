import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Feature } from '#test/scenarios/target.ts';
import { withThisNode } from './command.ts';
import { startGroup } from './process-group.ts';
import { makePythonEnvironment } from './python.ts';

/** MiniStack, and what its KMS makes key pairs with. */
const PACKAGES = ['ministack==1.4.21', 'cryptography==50.0.2'];

const ACCOUNT = '000000000000';
const REGION = 'us-east-1';

/** How long it may take to start. */
const PATIENCE_MS = 30_000;

/**
 * What plain MiniStack does not model of API Gateway, so that scenarios on it are skipped by name. The templates that bring it about
 * on AWS are held to the contract by test/lib instead.
 */
export const MINISTACK_LACKS: readonly Feature[] = [
  // Its usage plans are stored and never applied: test/lib/api-stack.test.ts, "plans".
  'usage-plan throttle',
  // Its gateway responses are stored and never applied: test/lib/gateway-responses.test.ts.
  'gateway problem bodies',
  // It drops apiKeySourceType and lets any usage id pass: test/lib/api-stack.test.ts, "who may call".
  'exact key enforcement',
];

export interface Emulator {
  readonly endpoint: string;
  readonly account: string;
  /** What a command needs in its environment to work on the emulator and on nothing else. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port to be had');
  return address.port;
};

const untilHealthy = async (endpoint: string, hasEnded: () => boolean): Promise<void> => {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline && !hasEnded()) {
    const answer = await fetch(`${endpoint}/_ministack/health`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(200);
  }
  throw new Error('MiniStack did not start');
};

/** Credentials that open nothing, and the emulator for every service. */
const environmentFor = (endpoint: string): Record<string, string> => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: REGION,
  AWS_DEFAULT_REGION: REGION,
  AWS_EC2_METADATA_DISABLED: 'true',
});

/** On the loopback address alone, with everything it writes in `home`. */
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
  // Servers of services that nothing here uses, on ports of their own.
  IOT_MTLS_ENABLED: '0',
  SFTP_ENABLED: '0',
});

/** Starts MiniStack from PyPI on a free port of this machine alone. Everything it writes stays in `folder`. */
export const startEmulator = async (folder: string): Promise<Emulator> => {
  const programs = await makePythonEnvironment(join(folder, 'python'), PACKAGES);
  const home = join(folder, 'home');
  await mkdir(home);
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
  return { endpoint, account: ACCOUNT, environment, stop: group.stop };
};
