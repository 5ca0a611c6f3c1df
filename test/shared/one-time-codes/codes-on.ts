import { codeStore } from '#shared/one-time-codes/store.ts';
import type { Table } from '#shared/table/client.ts';

/** Epoch seconds at which every test begins. */
export const NOW = 1_800_000_000;

export const REJECTED = { reason: 'rejected' };

export const tooMany = (retryAfterSeconds: number) => ({ reason: 'too_many_attempts', retryAfterSeconds });

/** A fresh code of sel_a's. */
export const codeOf = (mac: string, now = NOW) => ({
  mac,
  audience: 'sel_a',
  expiresAt: now + 300,
  tries: 0,
});

let phones = 0;

/** The hash of a phone that no other test uses. */
export const newPhone = (): string => {
  phones += 1;
  return `phone-${phones}`;
};

/** The store on a table, and what a test does to a phone with it. */
export const codesOn = (table: Table) => {
  const store = codeStore(table);

  /** Puts a code out for a phone, whatever stood there. */
  const putOut = async (phone: string, mac: string, now = NOW) => {
    const seen = await store.read(phone);
    return store.replaceCode(phone, seen, { code: codeOf(mac, now), sends: [now], now });
  };

  /** `times` tries, none of them redeemed: as many failures as were counted. */
  const fail = async (phone: string, times: number, now = NOW): Promise<void> => {
    for (let count = 0; count < times; count += 1) await store.countTry(phone, 'sel_a', now);
  };

  /** A phone that ten failures have locked at NOW. */
  const lockedPhone = async (): Promise<string> => {
    const phone = newPhone();
    for (const mac of ['first', 'second']) {
      await putOut(phone, mac);
      await fail(phone, 5);
    }
    return phone;
  };

  return { store, putOut, fail, lockedPhone };
};

export type Codes = ReturnType<typeof codesOn>;
