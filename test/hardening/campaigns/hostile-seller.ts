import { type ApiCall, call, type Reply } from '../api.ts';
import type { CampaignSeller } from '../deployment.ts';
import { personNumber, type TestPerson } from '../people.ts';
import { sendCode } from '../sign-ins.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';

const FIRST_PERSON = 80_000;
const HOURS = 24;
/** Far from the hours of other campaigns, so that no earlier send or failure counts. */
const START_HOURS = 40 * 24;

/** What another seller can see of a response: status, code and the limits. Ids and times differ by themselves. */
const visible = (reply: Reply | undefined): string => {
  if (reply === undefined) return 'no response';
  const headers = ['ratelimit-policy', 'retry-after', 'link'].map((name) => reply.headers.get(name));
  const remaining = /r=(\d+)/.exec(reply.headers.get('ratelimit') ?? '')?.[1];
  const { code, total, total_pages: pages } = reply.json ?? {};
  return JSON.stringify([reply.status, code, total, pages, remaining, ...headers]);
};

/** One hour of an honest seller: a link, a page, a search, a sign-in. Returns what the seller sees. */
const honestHour = async (
  options: CampaignOptions,
  { key }: CampaignSeller,
  { person, phone }: { readonly person: TestPerson; readonly phone: string },
): Promise<string[]> => {
  const { deployment, report } = options;
  const send = (request: Omit<ApiCall, 'key'>) => call(deployment.baseUrl(), { ...request, key }, report);
  const seen = [
    visible(await send({ method: 'POST', path: '/v1/users', body: person })),
    visible(await send({ method: 'GET', path: '/v1/users' })),
    visible(await send({ method: 'GET', path: `/v1/users?phone=${encodeURIComponent(person.phone)}` })),
  ].map((text) => text.replaceAll(encodeURIComponent(person.phone), 'phone'));
  const sent = await sendCode(deployment, { key, phone }, options);
  seen.push(`code sent: ${sent !== undefined}`);
  const body = { phone, code: sent?.code ?? '000000' };
  seen.push(visible(await send({ method: 'POST', path: '/v1/auth/otp/verify', body })));
  return seen;
};

/** One hour of a hostile seller against the same people and phones: guesses, sends, wrong links, foreign ids. */
const hostileHour = async (
  { deployment, report, random }: CampaignOptions,
  { key }: CampaignSeller,
  { person, phone }: { readonly person: TestPerson; readonly phone: string },
): Promise<void> => {
  const send = (request: Omit<ApiCall, 'key'>) => call(deployment.baseUrl(), { ...request, key }, report);
  const wrong = () => String(random.integer(1_000_000)).padStart(6, '0');
  await send({ method: 'POST', path: '/v1/auth/otp/send', body: { phone } });
  const guesses = Array.from({ length: 12 }, () => ({ phone, code: wrong() }));
  await Promise.all(guesses.map((body) => send({ method: 'POST', path: '/v1/auth/otp/verify', body })));
  const dates = Array.from({ length: 6 }, (_, index) => ({ ...person, birth_date: `1360/1/${index + 1}` }));
  await Promise.all(dates.map((body) => send({ method: 'POST', path: '/v1/users', body })));
  const foreignId = `usr_${'0'.repeat(6)}1${'a'.repeat(15)}`;
  await send({ method: 'DELETE', path: `/v1/users/${foreignId}` });
  await send({ method: 'GET', path: `/v1/users?phone=${encodeURIComponent(person.phone)}` });
};

/**
 * A simulated day of a hostile seller against the people and phones of an honest one. A second honest seller with other people is not
 * attacked. Both must see the same.
 */
export const hostileSeller: Campaign = {
  name: 'hostile seller',
  async run(options) {
    const { deployment, report, scale } = options;
    const attacked = await deployment.newSeller('Attacked');
    const control = await deployment.newSeller('Control');
    const hostile = await deployment.newSeller('Hostile');
    const hours = Math.ceil(HOURS * Math.max(scale, 0.25));
    const peopleOf = (first: number) =>
      Array.from({ length: hours }, (_, hour) => personNumber(first + hour));
    const [theirs, others] = [peopleOf(FIRST_PERSON), peopleOf(FIRST_PERSON + 100)];
    await deployment.register([...theirs, ...others].map(({ phone }) => phone));
    for (let hour = 0; hour < hours; hour += 1) {
      // Each phone is attacked for three hours, so that tries, sends and locks of one hour could show in the next.
      const phone = Math.floor(hour / 3);
      const target = { person: theirs[hour] as TestPerson, phone: `+98955${8_200_000 + phone}` };
      const quiet = { person: others[hour] as TestPerson, phone: `+98955${8_300_000 + phone}` };
      const seenByBoth = async () => {
        await deployment.toTenPast(START_HOURS + hour);
        await hostileHour(options, hostile, target);
        await deployment.toTenPast(START_HOURS + hour);
        const seenByAttacked = await honestHour(options, attacked, target);
        await hostileHour(options, hostile, target);
        await deployment.toTenPast(START_HOURS + hour);
        return [seenByAttacked, await honestHour(options, control, quiet)] as const;
      };
      const { result, uncounted } = await deployment.withUncounted(seenByBoth);
      // A request that was not counted shows no limit.
      if (uncounted > 0) continue;
      const [seenByAttacked, seenByControl] = result;
      for (const [index, seen] of seenByAttacked.entries()) {
        const same = seen === seenByControl[index];
        report.expect(
          'hostile seller: another seller sees no difference',
          same,
          () => `${seen} / ${seenByControl[index]}`,
        );
      }
    }
    await deployment.shiftClock(0);
  },
};
