import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { administration } from '#admin/administration.ts';
import { run } from '#bin/admin/run.ts';
import { writeAdminTarget } from '#local/admin-target.ts';
import { LOCAL_STAGE_NAME } from '#local/control-plane/identifiers.ts';
import type { ControlPlaneOptions } from '#local/control-plane.ts';
import { systemClock } from '#shared/clock.ts';
import { randomIds } from '#shared/ids.ts';
import { startControlPlane } from '#test/local/control-plane-server.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';

/** How a command ended and what it wrote. */
export interface Outcome {
  readonly exitCode: number;
  readonly out: string;
  readonly error: string;
}

/** What a person at the terminal answers; undefined: nobody is there. */
type Person = (question: string) => string;

/** The command line in this process, over a real table and the local control plane. Stop it in afterAll. */
export const startCliBench = async (options: ControlPlaneOptions = {}) => {
  const [table, controlPlane, folder] = await Promise.all([
    startEmbeddedTable(),
    startControlPlane(options),
    mkdtemp(join(tmpdir(), 'admin-cli-')),
  ]);
  const secretPath = join(folder, 'hash-secret.json');
  await writeFile(secretPath, JSON.stringify({ current: 'a secret of a test, of forty characters!' }));
  await writeAdminTarget(folder, {
    base_url: 'http://127.0.0.1:1',
    control_plane_url: controlPlane.url,
    dynamodb_endpoint: table.endpoint,
    table_name: table.name,
    key_prefix: 'blk_test_',
    digest_secret_path: secretPath,
  });
  await writeFile(join(folder, 'demo.json'), '{}');

  const runWith = async (person: Person | undefined, args: readonly string[]): Promise<Outcome> => {
    let out = '';
    let error = '';
    const exitCode = await run(['--data', folder, ...args], {
      out: (text) => {
        out += text;
      },
      error: (text) => {
        error += text;
      },
      isInteractive: person !== undefined,
      canRedraw: false,
      columns: 80,
      ask: async (question) => (person ?? (() => ''))(question),
    });
    return { exitCode, out, error };
  };

  const admin = administration({
    table,
    usagePlans: controlPlane.usagePlans,
    keyPrefix: 'blk_test_',
    stage: LOCAL_STAGE_NAME,
    actor: 'local:tester',
    clock: systemClock,
    ids: randomIds,
  });

  return {
    table,
    admin,
    usagePlans: controlPlane.usagePlans,
    plane: controlPlane.plane,
    folder,
    /** Runs a command where nobody can be asked. */
    cli: (...args: string[]): Promise<Outcome> => runWith(undefined, args),
    /** Runs a command before a person. */
    cliBefore: (person: Person, ...args: string[]): Promise<Outcome> => runWith(person, args),
    /** Runs a command with --json that has to succeed, and gives what it answers. */
    // biome-ignore lint/suspicious/noExplicitAny: what a command answers is what its test is about.
    async json(...args: string[]): Promise<any> {
      const outcome = await runWith(undefined, [...args, '--json']);
      expect(outcome).toMatchObject({ exitCode: 0, error: '' });
      return JSON.parse(outcome.out);
    },
    async stop() {
      await Promise.all([table.stop(), controlPlane.stop()]);
      await rm(folder, { recursive: true });
    },
  };
};

export type CliBench = Awaited<ReturnType<typeof startCliBench>>;
