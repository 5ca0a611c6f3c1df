import type { Connection, TargetOptions } from '#admin/cli/connection.ts';
import { UsageError } from '#admin/cli/errors.ts';
import { eraseBuyer } from '#admin/operations/erase-buyer.ts';
import { deployments } from '#bin/deployments.ts';
import { newDemoPerson } from '#local/demo/people.ts';
import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { isEncryptedOrLocal } from '#shared/providers/provider.ts';
import { type Call, CheckFailed, callsTo } from './call.ts';
import {
  keyChecks,
  publicChecks,
  revocationCheck,
  signInChecks,
  type TestPerson,
  userChecks,
} from './checks.ts';
import { type Report, report } from './report.ts';
import { testKeys } from './test-keys.ts';

/** What to test. `url` alone: without keys. */
interface SmokeOptions extends TargetOptions {
  readonly url?: string;
  readonly emulator?: boolean;
  readonly steps?: boolean;
}

interface Surroundings {
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/** Checks a running service. Returns whether every check passed. Throws if the deployment cannot be found; nothing has changed then. */
export const smokeTest = async (options: SmokeOptions, { signal, print }: Surroundings): Promise<boolean> => {
  const { url, stage, local = false, emulator: isEmulator = false, steps: hasSteps = false } = options;
  const hasKeys = stage !== undefined || local;
  if (url === undefined && !hasKeys) {
    throw new UsageError('Name a deployment: --stage dev, --local or --url https://…');
  }
  if (url !== undefined && !isEncryptedOrLocal(url)) {
    throw new UsageError('--url must be https, or http on loopback.');
  }
  const connection = hasKeys ? await deployments.connect(options) : undefined;
  try {
    const baseUrl = (url ?? connection?.baseUrl ?? '').replace(/\/+$/, '');
    print(`Smoke test of ${baseUrl}`);
    const lines = report(print, { isEmulator, signal, hasSteps });
    const call = callsTo(baseUrl, { signal, onStep: lines.addStep });
    await publicChecks({ check: lines.check, call });
    if (connection !== undefined) {
      await withKeys(isEmulator ? withoutFlush(connection) : connection, { call, lines, signal });
    }
    return lines.summary();
  } finally {
    connection?.close();
  }
};

/** An emulator has no authorizer flush, so nothing waits for one there. */
const withoutFlush = ({ admin, ...connection }: Connection): Connection => ({
  ...connection,
  admin: { ...admin, usagePlans: { ...admin.usagePlans, flushAuthorizerCache: async () => {} } },
});

interface Run {
  readonly call: Call;
  readonly lines: Report;
  readonly signal: AbortSignal;
}

/** Runs the checks with keys, and with a person where the stage has test people. Leaves no valid key and no person. */
const withKeys = async (connection: Connection, { call, lines, signal }: Run): Promise<void> => {
  const tools = { check: lines.check, call };
  const keys = testKeys(connection.admin, connection.isSandbox);
  const test = testPersonOf(connection);
  try {
    await keys.issue(signal);
    await keyChecks(tools, keys);
    if (test !== undefined) {
      await signInChecks(tools, keys, test);
      await userChecks(tools, keys, test);
    }
    await revocationCheck(tools, keys);
  } catch (error) {
    // Ctrl-C between two keys; the summary says so.
    if (!signal.aborted) throw error;
  } finally {
    if (test !== undefined) await erase(connection, test, lines);
    const valid = await keys.revokeAll();
    if (valid.length > 0) {
      lines.fail(
        'the keys are revoked',
        new CheckFailed(`still valid, for an hour at most: ${valid.join(', ')}`),
      );
    }
  }
};

/** Returns a test person; undefined for a stage that would check or message real people. */
const testPersonOf = ({ isSandbox }: Connection): TestPerson | undefined =>
  isSandbox ? { person: newDemoPerson(), codeOf: async (phone) => sandboxCode(phone) } : undefined;

const erase = async ({ admin, hashes }: Connection, { person }: TestPerson, lines: Report): Promise<void> => {
  try {
    await eraseBuyer(admin, await hashes.phone(person.phone));
  } catch (error) {
    lines.fail('the test person is erased', error);
  }
};
