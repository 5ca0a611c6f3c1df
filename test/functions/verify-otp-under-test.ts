import { handle } from '#functions/verify-otp.ts';
import type { TokenSigner } from '#shared/access-tokens/signer.ts';
import { codeTries } from '#shared/one-time-codes/store.ts';
import { routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import { ISSUER, published, signer } from '#test/fakes/buyer-tokens.ts';
import { codesOn } from '#test/shared/one-time-codes/codes-on.ts';
import { testHashes } from './create-user-deps.ts';
import { callerContext, functionUnderTest } from './harness.ts';

export { published, signer };

export const RIGHT = '493027';
export const WRONG = '111111';

/** The authorizer's context of a seller's key without scopes. */
export const seller = (sellerId: string, keyId = `key_${sellerId}`, limits = {}) => ({
  ...callerContext,
  sellerId,
  keyId,
  scopes: 'users:read',
  limits: JSON.stringify(limits),
});

export interface VerifyOtpOptions {
  readonly otpAccess?: 'public';
  readonly signer?: TokenSigner;
  readonly inSandbox?: true;
  /** The connection of the function, if it is not the table itself. */
  readonly on?: Table;
}

/** The function, and a store that sends codes to it. */
export const verifyOtpOn = (table: Table, { on = table, ...own }: VerifyOtpOptions = {}) => {
  const { store, send } = codesOn(table);
  const test = functionUnderTest(routes['verify-otp'], handle, on, {
    codes: codeTries(on),
    tableName: on.name,
    hashes: testHashes,
    signer,
    tokenIssuer: ISSUER,
    inSandbox: false,
    ...own,
  });
  return {
    ...test,
    /** Stores a code for a phone, as a send does. */
    async send(phone: string, audience = 'sel_test') {
      const now = Math.floor(test.clock() / 1000);
      const { current: phoneHash } = await testHashes.phone(phone);
      const mac = await testHashes.codeMac({ phone, audience, code: RIGHT });
      await send({ phoneHash, audience }, mac, now);
    },
    record: async (phone: string, audience = 'sel_test') =>
      (await store.read({ phoneHash: (await testHashes.phone(phone)).current, audience }, [], 0)).record,
    verify: (phone: string, code: string, authorizer: Record<string, string> = callerContext) =>
      test.call({ body: { phone, code }, authorizer }),
    events: (name: string) =>
      test.lines.map((line) => JSON.parse(line)).filter(({ event }) => event === name),
  };
};
