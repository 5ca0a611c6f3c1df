import { call } from '../api.ts';
import { type CampaignSeller, type Deployment, keyIn } from '../deployment.ts';
import { personNumber } from '../people.ts';
import { type SentCode, sendCode } from '../sign-ins.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';

const HOUR_SECONDS = 3600;
const FIRST_PERSON = 70_000;

/** Seconds from now to a moment. */
const until = (iso: string): number => Math.round((Date.parse(iso) - Date.now()) / 1000);

/** Where the clock is set, in this order. It goes back twice. */
const MOMENTS = (): readonly (readonly [string, number])[] => [
  ['an hour ahead', HOUR_SECONDS],
  ['an hour back', -HOUR_SECONDS],
  ['the last seconds of a leap day', until('2028-02-29T23:59:50Z')],
  ['the end of the Jalali year 1405', until('2027-03-20T20:29:55Z')],
  ['midnight UTC', until('2026-12-31T23:59:58Z')],
  ['the real time', 0],
];

const verify = ({ baseUrl }: Deployment, { key, phone, code }: SentCode, report: CampaignOptions['report']) =>
  call(baseUrl(), { method: 'POST', path: '/v1/auth/otp/verify', key, body: { phone, code } }, report);

/** Codes work at every moment, end after their lifetime, and never name a wait that is longer than its rule. */
const checkCodes = async (
  { deployment, report, used }: CampaignOptions,
  { key }: CampaignSeller,
  { phone, moment, offset }: { readonly phone: string; readonly moment: string; readonly offset: number },
): Promise<void> => {
  const sent = await sendCode(deployment, { key, phone }, { report, used });
  report.expect(`clock: a code can be sent at ${moment}`, sent !== undefined, () => 'refused');
  if (sent === undefined) return;
  const post = { method: 'POST', path: '/v1/auth/otp/send', key, body: { phone } } as const;
  await deployment.shiftClock(offset - HOUR_SECONDS);
  const again = await call(deployment.baseUrl(), post, report);
  const waitSeconds = Number(again?.headers.get('retry-after'));
  const isClamped = again?.status !== 429 || waitSeconds <= 60;
  report.expect('clock: after a step back a resend waits at most 60 s', isClamped, () => `${waitSeconds} s`);
  await deployment.shiftClock(offset + 301);
  const late = await verify(deployment, sent, report);
  report.expect(
    'clock: a code ends after 300 s',
    late?.json?.code === 'code_rejected',
    () => `${late?.status}`,
  );
  await deployment.shiftClock(offset);
};

/** Sets the service's clock to odd moments, back and forth: limits, codes, key expiry and the order of users must hold. */
export const clock: Campaign = {
  name: 'clock',
  async run(options) {
    const { deployment, report } = options;
    const seller = await deployment.newSeller('Clock');
    const people = MOMENTS().map((_, index) => personNumber(FIRST_PERSON + index));
    await deployment.register(people.map(({ phone }) => phone));
    const ids: string[] = [];
    for (const [index, [moment, offset]] of MOMENTS().entries()) {
      await deployment.shiftClock(offset);
      const person = people[index] as (typeof people)[number];
      const request = { method: 'POST', path: '/v1/users', key: seller.key, body: person } as const;
      const linked = await call(deployment.baseUrl(), request, report);
      report.expect(
        `clock: a link works at ${moment}`,
        linked?.status === 201,
        () => `${linked?.json?.code}`,
      );
      const resetSeconds = Number(/t=(\d+)/.exec(linked?.headers.get('ratelimit') ?? '')?.[1]);
      const isInMinute = resetSeconds >= 1 && resetSeconds <= 60;
      report.expect('clock: the window ends within 60 s', isInMinute, () => `${resetSeconds} s`);
      ids.push(linked?.json?.id);
      await checkCodes(options, seller, { phone: `+98955${7_100_000 + index}`, moment, offset });
    }
    await deployment.shiftClock(0);
    const listed = await call(
      deployment.baseUrl(),
      { method: 'GET', path: '/v1/users', key: seller.key },
      report,
    );
    const order = listed?.json?.data.map(({ id }: { id: string }) => id);
    const isInOrder = JSON.stringify(order) === JSON.stringify(ids);
    report.expect('clock: users are in the order of linking', isInOrder, () => `${order}`);
    await checkKeyExpiry(options);
  },
};

/** A key ends in the second of its expiry, although its authorizer decision is cached. */
const checkKeyExpiry = async ({ deployment, report }: CampaignOptions): Promise<void> => {
  const { id } = await deployment.newSeller('Clock, expiring key');
  const flags = ['--plan', 'professional', '--scopes', 'users:read', '--expires', '1h', '--json'];
  const key = keyIn(await deployment.admin('keys', 'issue', id, ...flags));
  const list = () => call(deployment.baseUrl(), { method: 'GET', path: '/v1/users', key }, report);
  for (const [offset, status] of [
    [0, 200],
    [HOUR_SECONDS - 60, 200],
    [HOUR_SECONDS + 1, 401],
  ] as const) {
    await deployment.shiftClock(offset);
    const reply = await list();
    report.expect(
      'clock: a key ends in its second',
      reply?.status === status,
      () => `${offset} s: ${reply?.status}`,
    );
  }
  await deployment.shiftClock(0);
};
