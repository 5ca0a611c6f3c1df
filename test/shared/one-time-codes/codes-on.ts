import type { NewCode } from '#shared/one-time-codes/code-item.ts';
import { type CodeOwner, codeSends, codeTries } from '#shared/one-time-codes/store.ts';
import type { Table } from '#shared/table/client.ts';

/** Epoch seconds at which every test begins. */
export const NOW = 1_800_000_000;

export const rejected = { written: false, reason: { code: 'code_rejected' } };

export const tooMany = (retryAfterSeconds: number) => ({
  written: false,
  reason: expect.objectContaining({ code: 'too_many_attempts', retryAfterSeconds }),
});

/** The result of a counted try of a code with this MAC. */
export const countedOf = (mac: string) => ({ written: true, value: expect.objectContaining({ mac }) });

let phones = 0;

/** A phone that no other test uses, with one seller. */
export const newOwner = (audience = 'sel_a'): CodeOwner => {
  phones += 1;
  return { phoneHash: `phone-${phones}`, audience };
};

/** The same phone with another seller. */
export const withSeller = ({ phoneHash }: CodeOwner, audience: string): CodeOwner => ({
  phoneHash,
  audience,
});

/** A code about to be sent; its MAC begins with `mac`, which identifies its send. */
export const codeOf = (mac: string, now = NOW): NewCode => ({
  mac: mac.includes('.') ? mac : `${mac}.mac`,
  provider: 'first',
  now,
});

/** The store on a table, and what tests do with it. */
export const codesOn = (table: Table) => {
  const store = { ...codeSends(table), ...codeTries(table) };

  /** Sends a code without checking the limits. Returns the data for an undo. */
  const send = async (owner: CodeOwner, mac: string, now = NOW) => {
    const { record: before } = await store.read(owner, [], 0);
    const code = codeOf(mac, now);
    const isStored = await store.recordSend(owner, before, code);
    return { before, code, isStored };
  };

  /** Makes `times` tries, none of them redeemed. */
  const fail = async (owner: CodeOwner, times: number, now = NOW): Promise<void> => {
    for (let count = 0; count < times; count += 1) await store.countTry(owner, now);
  };

  const record = async (owner: CodeOwner) => (await store.read(owner, [], 0)).record;

  return { store, send, fail, record };
};

export type Codes = ReturnType<typeof codesOn>;
