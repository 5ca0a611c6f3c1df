import { setTimeout as pause } from 'node:timers/promises';
import { call, type Reply } from '../api.ts';
import { personNumber } from '../people.ts';
import { sendCode, verifyTwice } from '../sign-ins.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';

const FIRST_PERSON = 93_000;
const ROUNDS = 8;
const AT_ONCE = 100;
/** The other seller sends when about this many of the burst are answered, are under way and have not begun. */
const BESIDE_AFTER_MS = [0, 20, 60] as const;

interface Keys {
  readonly burst: string;
  readonly withoutSms: string;
  /** Each sends one code to a phone. */
  readonly others: readonly string[];
}

const send = ({ deployment, report, used }: CampaignOptions, key: string, phone: string) => {
  used.phones.add(phone);
  used.keys.add(key);
  const request = { method: 'POST', path: '/v1/auth/otp/send', key, body: { phone } } as const;
  return call(deployment.baseUrl(), request, report);
};

/** The responses to a burst by code or reason, without those of a service that was too busy to decide. */
const sumsOf = (replies: readonly (Reply | undefined)[]): ReadonlyMap<string, number> => {
  const decided = replies.filter((reply) => reply !== undefined && reply.status < 500);
  const codes = decided.map((reply) => String(reply?.json?.reason ?? reply?.json?.code ?? reply?.status));
  return new Map([...Map.groupBy(codes, (code) => code)].map(([code, { length }]) => [code, length]));
};

const textOf = (sums: ReadonlyMap<string, number>): string =>
  [...sums].map(([code, count]) => `${count} × ${code}`).join(', ');

/** At most one send of a burst was made, and all others were refused by the cool-down that it began. */
const isOneSend = (sums: ReadonlyMap<string, number>): boolean =>
  (sums.get('202') ?? 0) <= 1 && [...sums.keys()].every((code) => code === '202' || code === 'cool_down');

/** Sends codes to a phone all at once while three other sellers send one each. Returns the sums of the responses to the burst. */
const burst = async (options: CampaignOptions, keys: Keys, key: string, phone: string) => {
  const replies = Promise.all(Array.from({ length: AT_ONCE }, () => send(options, key, phone)));
  const beside = BESIDE_AFTER_MS.map(async (afterMs, index) => {
    await pause(afterMs);
    return send(options, keys.others[index] as string, phone);
  });
  for (const reply of await Promise.all(beside)) {
    const isRefused = reply?.status === 429;
    const detail = () => `${reply?.json?.code} ${reply?.json?.reason}`;
    options.report.expect('parallel sends: another seller is never refused', !isRefused, detail);
    options.report.operation('parallel sends: another seller beside a burst', reply?.status === 202);
  }
  return sumsOf(await replies);
};

/** Bursts to a phone without and with codes of others. The code of before the burst must still work after it. */
const checkRound = async (options: CampaignOptions, keys: Keys, round: number): Promise<void> => {
  const { deployment, report } = options;
  const phoneOf = (index: number) => personNumber(FIRST_PERSON + round * 10 + index).phone;
  const [fresh, known, closed, kept] = [phoneOf(0), phoneOf(1), phoneOf(2), phoneOf(3)];
  for (const key of keys.others.slice(BESIDE_AFTER_MS.length)) await send(options, key, known);
  const sums = [await burst(options, keys, keys.burst, fresh), await burst(options, keys, keys.burst, known)];
  const told = () => sums.map(textOf).join(' / ');
  report.expect(
    'parallel sends: one is made, and the others tell nothing of other codes',
    sums.every(isOneSend),
    told,
  );
  const refused = await burst(options, keys, keys.withoutSms, closed);
  report.expect('parallel sends: none passes a limit of 0', !refused.has('202'), () => textOf(refused));

  const sent = await sendCode(deployment, { key: keys.burst, phone: kept }, options);
  await Promise.all(Array.from({ length: 10 }, () => send(options, keys.burst, kept)));
  const isDone = sent !== undefined && (await verifyTwice(deployment, sent, options));
  report.operation('parallel sends: a code after refused sends', isDone);
};

/** One key sends to a phone as often as it can: no other seller notices, and no outstanding code is lost. */
export const parallelSends: Campaign = {
  name: 'parallel sends',
  async run(options) {
    const { deployment } = options;
    const newKeys = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) => deployment.newSeller(`Parallel sends ${index}`)),
      );
    const [closed, ...others] = await newKeys(9);
    await deployment.admin('keys', 'limits', closed?.keyId as string, '--set', 'sms-per-hour=0', '--yes');
    for (let round = 0; round < Math.ceil(ROUNDS * options.scale); round += 1) {
      // A key of its own in each round, since a plan has room for a thousand requests in a minute.
      const { key } = await deployment.newSeller(`Parallel sends, round ${round}`);
      const keys = {
        burst: key,
        withoutSms: closed?.key as string,
        others: others.map((other) => other.key),
      };
      await checkRound(options, keys, round);
    }
  },
};
