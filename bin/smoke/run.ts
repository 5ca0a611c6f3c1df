import type { Administration } from '#admin/administration.ts';
import { eraseBuyer } from '#admin/operations/erase-buyer.ts';
import { connect } from '#bin/admin/connect.ts';
import type { Connection, TargetOptions } from '#bin/admin/connection.ts';
import { failureOf, UsageError } from '#bin/admin/errors.ts';
import { newDemoPerson } from '#local/demo/people.ts';
import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { type Call, callsTo } from './call.ts';
import type { Check } from './check.ts';
import { keyChecks, revocationCheck } from './key-checks.ts';
import { peopleChecks, type TestPerson } from './people-checks.ts';
import { publicChecks } from './public-checks.ts';
import { type Report, report } from './report.ts';
import { issueTestKeys, revokeTestKeys } from './test-keys.ts';

/** What to test. `url` alone: without keys. */
export interface SmokeOptions extends TargetOptions {
  readonly url?: string;
  readonly emulator?: boolean;
}

interface Surroundings {
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/** Checks a running service. Returns whether every check passed. Throws if the deployment cannot be found; nothing has changed then. */
export const smokeTest = async (options: SmokeOptions, { signal, print }: Surroundings): Promise<boolean> => {
  const { url, stage, local = false } = options;
  if (url === undefined && stage === undefined && !local) {
    throw new UsageError('Name a deployment: --stage dev, --local or --url https://…');
  }
  if (url !== undefined && !URL.canParse(url)) throw new UsageError('--url must be a URL.');
  const hasKeys = stage !== undefined || local;
  const connection = hasKeys ? await connect(options) : undefined;
  try {
    const baseUrl = (url ?? connection?.baseUrl ?? '').replace(/\/+$/, '');
    print(`Smoke test of ${baseUrl}`);
    const call = callsTo(baseUrl, signal);
    const lines = report(print, { isEmulator: options.emulator === true, signal });
    await lines.run(publicChecks(call));
    if (connection !== undefined) await withKeys(connectionFor(connection, options), { call, lines, signal });
    return lines.summary();
  } finally {
    connection?.close();
  }
};

/** An emulator has no authorizer flush, so nothing waits for one there. */
const connectionFor = (connection: Connection, { emulator }: SmokeOptions): Connection => {
  if (!emulator) return connection;
  const { admin } = connection;
  return {
    ...connection,
    admin: { ...admin, usagePlans: { ...admin.usagePlans, flushAuthorizerCache: async () => {} } },
  };
};

interface Run {
  readonly call: Call;
  readonly lines: Report;
  readonly signal: AbortSignal;
}

/** Runs the checks with keys, and with a person where the stage has test people. Leaves no valid key and no person. */
const withKeys = async (connection: Connection, { call, lines, signal }: Run): Promise<void> => {
  const { admin } = connection;
  const issued: string[] = [];
  const test = testPersonOf(connection, call);
  try {
    const keys = await issueTestKeys(admin, issued, signal);
    const checks: Check[] = [...keyChecks(call, keys)];
    if (test !== undefined) checks.push(...peopleChecks(call, keys, test));
    await lines.run([...checks, revocationCheck(call, keys)]);
  } catch (error) {
    // Ctrl-C between two keys; the summary says so.
    if (!signal.aborted) throw error;
  } finally {
    if (test !== undefined) await erase(connection, test, lines);
    await revoke(admin, issued, lines);
  }
};

/** Returns a test person; undefined for a stage that would check or message real people. */
const testPersonOf = ({ testPeople }: Connection, call: Call): TestPerson | undefined => {
  if (testPeople === undefined) return undefined;
  const person = newDemoPerson();
  if (testPeople === 'sandbox') return { person, codeOf: async (phone) => sandboxCode(phone) };
  return {
    person,
    async codeOf(phone) {
      const messages = (await call(`/_local/messages?phone=${encodeURIComponent(phone)}`)).json();
      const [newest] = (messages ?? []) as readonly { readonly code: string }[];
      // A local service can have the sandbox too: it sends no message.
      return newest?.code ?? sandboxCode(phone);
    },
  };
};

const erase = async ({ admin, hashes }: Connection, { person }: TestPerson, lines: Report): Promise<void> => {
  try {
    await eraseBuyer(admin, await hashes.phone(person.phone));
  } catch (error) {
    lines.fail('the test person is erased', failureOf(error).message);
  }
};

const revoke = async (admin: Administration, issued: readonly string[], lines: Report): Promise<void> => {
  const failed = await revokeTestKeys(admin, issued);
  if (failed.length > 0) {
    lines.fail('the keys are revoked', `still valid, for an hour at most: ${failed.join(', ')}`);
  }
};
