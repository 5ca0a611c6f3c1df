import { handle } from '#functions/send-otp.ts';
import { randomCode } from '#shared/one-time-codes/new-code.ts';
import { codeSends, codeTries } from '#shared/one-time-codes/store.ts';
import { routes } from '#shared/routes.ts';
import type { CodeMessage } from '#shared/sms/port.ts';
import type { Table } from '#shared/table/client.ts';
import { testHashes } from './create-user-deps.ts';
import { functionUnderTest } from './harness.ts';
import { seller } from './verify-otp-under-test.ts';

export interface SendOtpOptions {
  readonly otpAccess?: 'public';
  readonly smsPerDay?: number;
}

/** The function with an SMS provider that keeps its messages, or fails with `provider.failure`. */
export const sendOtpOn = (table: Table, { smsPerDay, ...own }: SendOtpOptions = {}) => {
  const sent: CodeMessage[] = [];
  const provider: { name: string; failure?: Error; onSend?: () => Promise<unknown> } = { name: 'first' };
  const codes = { ...codeSends(table), ...codeTries(table) };
  const test = functionUnderTest(routes['send-otp'], handle, table, {
    codes,
    newCode: randomCode,
    hashes: testHashes,
    smsProvider: 'first',
    smsPerDay,
    sms: {
      sendCode: async (message) => {
        await provider.onSend?.();
        if (provider.failure) throw provider.failure;
        sent.push(message);
        return { provider: provider.name };
      },
    },
    ...own,
  });
  const ownerOf = async (phone: string, audience = 'sel_a') => ({
    phoneHash: (await testHashes.phone(phone)).current,
    audience,
  });
  return {
    ...test,
    sent,
    provider,
    codes,
    send: (phone: string, authorizer: Record<string, string> = seller('sel_a'), locale?: string) =>
      test.call({ body: { phone, ...(locale && { locale }) }, authorizer }),
    ownerOf,
    record: async (phone: string, audience?: string) =>
      (await codes.read(await ownerOf(phone, audience), [], 0)).record,
    nowSeconds: () => Math.floor(test.clock() / 1000),
  };
};
