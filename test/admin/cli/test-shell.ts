import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { administration } from '#admin/administration.ts';
import { run } from '#admin/cli/commands/program.ts';
import type { Deployments } from '#admin/cli/connection.ts';
import { deployments } from '#bin/deployments.ts';
import { localAdministration } from '#local/administration.ts';
import { minuteLimit } from '#shared/rate-limits/key-limits.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { fileSecret } from '#shared/secrets/secret-source.ts';
import type { Table } from '#shared/table/client.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import type { RunningApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';
import { startEmbeddedTable, withoutOpenWrites } from '#test/table/embedded-table.ts';
import { recordingTerminal } from './recording-terminal.ts';

/** The exit code and the output of a command. */
export interface Outcome {
  readonly exitCode: number;
  readonly out: string;
  readonly error: string;
}

/** Answers the questions of a command. */
type Person = (question: string) => string;

type Gateway = Pick<RunningApiGateway, 'usagePlans' | 'authorizerCache'>;

/** Commands on this table, whose writes are watched, and this API Gateway, if one is given. */
const connectedTo = (parts: { readonly table: Table } & Partial<Gateway>): Deployments => ({
  ...deployments,
  async connect(options) {
    const { admin, ...connection } = await deployments.connect(options);
    return { ...connection, admin: administration({ ...admin, ...parts }) };
  },
});

/** Runs the CLI in this process, over a real table. `gateway`: an API Gateway, which the local service lacks. Stop it in afterAll. */
export const startTestShell = async (gateway?: Gateway) => {
  const [table, folder] = await Promise.all([startEmbeddedTable(), mkdtemp(join(tmpdir(), 'admin-cli-'))]);
  const secretPath = join(folder, 'hash-secret.json');
  await writeFile(secretPath, JSON.stringify({ current: 'a secret of a test, of forty characters!' }));
  await writeFile(
    join(folder, 'demo.json'),
    JSON.stringify({
      base_url: 'http://127.0.0.1:1',
      dynamodb_endpoint: table.endpoint,
      table_name: table.name,
    }),
  );

  const runWith = async (
    { person, input = '', columns = 80 }: { person?: Person; input?: string; columns?: number },
    args: readonly string[],
  ): Promise<Outcome> => {
    const { terminal, written } = recordingTerminal({
      isInteractive: person !== undefined,
      columns: person === undefined ? undefined : columns,
      ask: async (question) => (person ?? (() => input))(question),
    });
    const command = () => run(['--data', folder, ...args], terminal, connectedTo({ table, ...gateway }));
    return { exitCode: await withoutOpenWrites(command), ...written };
  };

  const admin = administration({
    ...localAdministration(table, 'local:tester'),
    registryIsSandbox: false,
    ...gateway,
  });

  return {
    table,
    admin,
    /** Counts a request of a key of the plan free. */
    countRequest: (keyId: string) =>
      limiterOn(table).increment(minuteLimit({ keyId, plan: 'free' }), Date.now()),
    folder,
    hashes: keyedHashesFrom(fileSecret(secretPath)),
    /** Runs a command without a terminal. */
    cli: (...args: string[]): Promise<Outcome> => runWith({}, args),
    /** Runs a command with a terminal and a person who answers its questions. */
    cliWithPerson: (person: Person, ...args: string[]): Promise<Outcome> => runWith({ person }, args),
    /** Runs a command with a terminal of this width, and asks nothing. */
    cliOfWidth: (columns: number, ...args: string[]): Promise<Outcome> =>
      runWith({ person: () => '', columns }, args),
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
      await table.stop();
      await rm(folder, { recursive: true });
    },
  };
};

export type TestShell = Awaited<ReturnType<typeof startTestShell>>;
