import { PLANS } from '#shared/rate-limits/plans.ts';
import { call, type Reply } from '../api.ts';
import { keyIn } from '../deployment.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';

const CLIENTS = 20;
const REQUESTS = 250;
const SENDS = 30;
const SMS_PER_HOUR = 7;

/** Makes calls by several clients at once. Counts each, and whether the limit decided it. */
const byClients = async (
  { report }: CampaignOptions,
  count: number,
  make: (index: number) => Promise<Reply | undefined>,
): Promise<Reply[]> => {
  const replies: Reply[] = [];
  let begun = 0;
  const client = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      const reply = await make(begun);
      report.operation('requests over a limit', reply !== undefined && reply.status < 500);
      if (reply !== undefined) replies.push(reply);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return replies;
};

const rateLimitOf = ({ headers }: Reply) => {
  const [, remaining, resetSeconds] = /r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
  return { remaining: Number(remaining), resetSeconds: Number(resetSeconds) };
};

/** The minute of the service's clock in which a request was counted: the one that ends when its window resets. `Date` tells the real time. */
const minuteOf = (reply: Reply, shiftSeconds: number): number => {
  const seconds = Date.parse(reply.headers.get('date') ?? '') / 1000 + shiftSeconds;
  return Math.round((seconds + rateLimitOf(reply).resetSeconds) / 60);
};

/** More requests of a free key than its plan allows in two clock minutes: each minute allows exactly the limit. */
const checkPlanLimit = async (options: CampaignOptions, key: string, shiftSeconds: number): Promise<void> => {
  const { deployment, report } = options;
  const list = () => call(deployment.baseUrl(), { method: 'GET', path: '/v1/users', key }, report);
  const { result: all, uncounted } = await deployment.withUncounted(() => byClients(options, REQUESTS, list));
  const replies = all.filter(({ headers }) => headers.has('ratelimit'));
  const isCounted = all.length - replies.length <= uncounted;
  report.expect('limits: each response shows the limit', isCounted, () => `${all.length} ${replies.length}`);
  for (const [minute, counted] of Map.groupBy(replies, (reply) => minuteOf(reply, shiftSeconds))) {
    const left = counted.filter(({ status }) => status === 200).map((reply) => rateLimitOf(reply).remaining);
    const isEachOnce = new Set(left).size === left.length && left.length <= PLANS.free.requestsPerMinute;
    report.expect('limits: each request of a minute is counted once', isEachOnce, () => `${minute}: ${left}`);
    const isAllowedFirst = left.length === counted.length || left.includes(0);
    report.expect(
      'limits: none is refused before the limit is reached',
      isAllowedFirst,
      () => `${minute}: ${left}, ${counted.length} in all`,
    );
  }
};

/** More messages than the key's own limit per hour, at the same moment: exactly as many are sent. */
const checkHourlyLimit = async (options: CampaignOptions, key: string): Promise<void> => {
  const { deployment, report, used } = options;
  const phones = Array.from({ length: SENDS }, (_, index) => `+98955${String(9_000_000 + index)}`);
  const send = (number: number) => {
    const phone = phones[number - 1] as string;
    used.phones.add(phone);
    const request = { method: 'POST', path: '/v1/auth/otp/send', key, body: { phone } } as const;
    return call(deployment.baseUrl(), request, report);
  };
  const { result: replies, uncounted } = await deployment.withUncounted(() =>
    byClients(options, SENDS, send),
  );
  let messages = 0;
  for (const phone of phones) {
    const sent = deployment.simulators.messages(phone);
    messages += sent.length;
    for (const { code } of sent) used.codes.add(code);
  }
  const accepted = replies.filter(({ status }) => status === 202).length;
  const isWithin = accepted >= SMS_PER_HOUR && accepted <= SMS_PER_HOUR + uncounted;
  const isExact = isWithin && messages === accepted;
  const detail = () => `${accepted} accepted, ${messages} sent, ${uncounted} uncounted`;
  report.expect('limits: exactly the messages of the limit per hour are sent', isExact, detail);
};

/** A key's limits under requests at the same moment. The other campaigns stay below them. */
export const limits: Campaign = {
  name: 'limits',
  async run(options) {
    const { deployment, used } = options;
    const { id, keyId, key } = await deployment.newSeller('Limits');
    const flags = ['--plan', 'free', '--scopes', 'users:read', '--json'];
    const freeKey = keyIn(await deployment.admin('keys', 'issue', id, ...flags));
    used.keys.add(key).add(freeKey);
    await deployment.admin('keys', 'limits', keyId, '--set', `sms-per-hour=${SMS_PER_HOUR}`, '--yes');
    await checkPlanLimit(options, freeKey, await deployment.toTenPast());
    await checkHourlyLimit(options, key);
    await deployment.shiftClock(0);
  },
};
