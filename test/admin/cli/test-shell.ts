import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { administration } from '#admin/administration.ts';
import { run } from '#admin/cli/commands/program.ts';
import { randomIds } from '#admin/ids.ts';
import { deployments } from '#bin/deployments.ts';
import { writeAdminTarget } from '#local/admin-target.ts';
import type { SimulatorOptions } from '#local/api-gateway/simulator.ts';
import { STAGE_NAME } from '#local/environment.ts';
import { systemClock } from '#shared/clock.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { fileSecret } from '#shared/secrets/secret-source.ts';
import { startApiGateway } from '#test/local/api-gateway/use-api-gateway.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { recordingTerminal } from './recording-terminal.ts';

/** The exit code and the output of a command. */
export interface Outcome {
  readonly exitCode: number;
  readonly out: string;
  readonly error: string;
}

/** Answers the questions of a command. */
type Person = (question: string) => string;

/** Runs the CLI in this process, over a real table and the simulated API Gateway. Stop it in afterAll. */
export const startTestShell = async (options: Partial<SimulatorOptions> = {}) => {
  const [table, apiGateway, folder] = await Promise.all([
    startEmbeddedTable(),
    startApiGateway(options),
    mkdtemp(join(tmpdir(), 'admin-cli-')),
  ]);
  const secretPath = join(folder, 'hash-secret.json');
  await writeFile(secretPath, JSON.stringify({ current: 'a secret of a test, of forty characters!' }));
  await writeAdminTarget(folder, {
    base_url: 'http://127.0.0.1:1',
    api_gateway_endpoint: apiGateway.access.endpoint,
    api_gateway_access_key_id: apiGateway.access.accessKeyId,
    dynamodb_endpoint: table.endpoint,
    table_name: table.name,
    key_prefix: 'blk_test_',
    hash_secret_path: secretPath,
  });
  await writeFile(join(folder, 'demo.json'), '{}');

  const runWith = async (
    { person, input = '' }: { readonly person?: Person; readonly input?: string },
    args: readonly string[],
  ): Promise<Outcome> => {
    const { terminal, written } = recordingTerminal({
      isInteractive: person !== undefined,
      output: { columns: person === undefined ? undefined : 80, hasColor: false },
      ask: async (question) => (person ?? (() => input))(question),
    });
    return { exitCode: await run(['--data', folder, ...args], terminal, deployments), ...written };
  };

  const admin = administration({
    table,
    usagePlans: apiGateway.usagePlans,
    keyPrefix: 'blk_test_',
    stage: STAGE_NAME,
    actor: 'local:tester',
    clock: systemClock,
    ids: randomIds,
  });

  return {
    table,
    admin,
    apiGateway,
    folder,
    hashes: keyedHashesFrom(fileSecret(secretPath)),
    /** Runs a command without a terminal. */
    cli: (...args: string[]): Promise<Outcome> => runWith({}, args),
    /** Runs a command with a terminal and a person who answers its questions. */
    cliWithPerson: (person: Person, ...args: string[]): Promise<Outcome> => runWith({ person }, args),
    /** Runs a command without a terminal, with a line on stdin. */
    cliWithInput: (input: string, ...args: string[]): Promise<Outcome> => runWith({ input }, args),
    /** Runs a command with --json that must succeed, and returns its result. */
    // biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of the result.
    async json(...args: string[]): Promise<any> {
      const outcome = await runWith({}, [...args, '--json']);
      expect(outcome).toMatchObject({ exitCode: 0, error: '' });
      return JSON.parse(outcome.out);
    },
    async stop() {
      await Promise.all([table.stop(), apiGateway.stop()]);
      await rm(folder, { recursive: true });
    },
  };
};

export type TestShell = Awaited<ReturnType<typeof startTestShell>>;
