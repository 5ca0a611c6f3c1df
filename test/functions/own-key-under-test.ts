import type { KeyRequest } from '#admin/operations/issue-key.ts';
import { handle as getKey } from '#functions/get-key.ts';
import { handle as getKeyUsage } from '#functions/get-key-usage.ts';
import { handle as rotateKey } from '#functions/rotate-key.ts';
import { ownKeyReader, ownKeyRotator } from '#shared/api-keys/own-key.ts';
import { useReader } from '#shared/rate-limits/use-history.ts';
import { routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import { useAdministration } from '#test/admin/operations/use-administration.ts';
import { functionUnderTest } from './harness.ts';

type TestAdministration = Awaited<ReturnType<ReturnType<typeof useAdministration>>>;

/** Later than any grace period, so that no end of a secret is that of its key by accident. */
export const KEY_END_TEXT = '2027-03-01T04:05:06Z';
const KEY_END = Date.parse(KEY_END_TEXT) / 1000;

const issuedKey = async (administration: TestAdministration, request: Partial<KeyRequest>) => {
  const wanted = { scopes: ['users:read', 'key:rotate'], expiresAt: KEY_END, ...request } as const;
  const issued = await administration.issued(wanted);
  const { seller_id: sellerId, key_id: keyId, plan, scopes, expires_at: end } = issued.key;
  const authorizer = {
    sellerId,
    keyId,
    plan,
    scopes: scopes.join(' '),
    expiresAt: end === undefined ? '' : String(end),
    secretNumber: '1',
  };
  const { clock, table } = administration;
  return {
    administration,
    issued,
    authorizer,
    getKey: (on: Table = table) =>
      functionUnderTest(routes['get-key'], getKey, on, {
        keys: { read: ownKeyReader(on) },
        clock,
      }),
    getKeyUsage: (on: Table = table) =>
      functionUnderTest(routes['get-key-usage'], getKeyUsage, on, {
        readUse: useReader(on),
        clock,
      }),
    rotateKey: (on: Table = table) =>
      functionUnderTest(routes['rotate-key'], rotateKey, on, {
        keys: { rotate: ownKeyRotator(on) },
        keyPrefix: 'blk_test_',
        clock,
      }),
  };
};

/** An issued key and the functions on it, at the time of the administration's clock. */
export type OwnKey = Awaited<ReturnType<typeof issuedKey>>;

/** Prepares issued keys for the tests of a file. They end at `KEY_END_TEXT` by default. */
export const useOwnKey = (): ((request?: Partial<KeyRequest>) => Promise<OwnKey>) => {
  const newAdministration = useAdministration();
  return async (request = {}) => issuedKey(await newAdministration(), request);
};

/** The error of a call that gets no response. */
export const timedOut = Object.assign(new Error('no response'), { name: 'TimeoutError' });
