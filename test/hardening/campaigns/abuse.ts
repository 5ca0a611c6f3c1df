import { testNationalId, testPhone } from '#shared/providers/test-identities.ts';
import { type ApiCall, call, type Reply } from '../api.ts';
import { otherPhoneOf, personNumber, type TestPerson } from '../people.ts';
import { signIn } from '../sign-ins.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';

const FIRST_PERSON = 90_000;
const BURSTS = 5;
const ERASURES = 20;
const AT_ONCE = 30;
const REQUESTS_PER_ERASURE = 100;
const LIMITS = { 'failed-checks-per-hour': 6, 'refused-links-per-hour': 8, 'sms-per-hour': 7 };

type Send = (request: Omit<ApiCall, 'key'>) => Promise<Reply | undefined>;

const sender =
  ({ deployment, report, used }: CampaignOptions, key: string): Send =>
  (request) => {
    used.keys.add(key);
    return call(deployment.baseUrl(), { ...request, key }, report);
  };

const link = (send: Send, body: TestPerson) => send({ method: 'POST', path: '/v1/users', body });

/** Counts the codes of replies; a reply without a code counts by its status. */
const countsOf = (replies: readonly (Reply | undefined)[]): Readonly<Record<string, number>> => {
  const codes = replies.map((reply) => String(reply?.json?.code ?? reply?.status));
  return Object.fromEntries([...Map.groupBy(codes, (code) => code)].map(([code, all]) => [code, all.length]));
};

/**
 * Makes requests at the same moment: exactly `limit` are answered with `code`, and every other one with `beyond`. A send that reached
 * no provider gives its place back, perhaps after the others were refused.
 */
const expectBurst = async (
  { deployment, report }: CampaignOptions,
  {
    check,
    code,
    limit,
    beyond = 'rate_limit_exceeded',
  }: {
    readonly check: string;
    readonly code: string;
    readonly limit: number;
    readonly beyond?: string;
  },
  requests: readonly (() => Promise<Reply | undefined>)[],
): Promise<void> => {
  const { result: replies, uncounted } = await deployment.withUncounted(() =>
    Promise.all(requests.map((make) => make())),
  );
  for (const reply of replies) report.operation('bursts', reply !== undefined && reply.status !== 500);
  const counts = countsOf(replies);
  const [counted = 0, refused = 0, refunded = 0] = [counts[code], counts[beyond], counts.sms_unavailable];
  const isExact = counted <= limit + uncounted && counted + refunded + uncounted >= limit;
  const isRefusedBeyond = counted + refunded + refused === requests.length;
  report.expect(check, isExact && isRefusedBeyond, () => `${JSON.stringify(counts)}, ${uncounted} uncounted`);
};

/** People whose links end with a verdict against them. The registries' simulators match everybody else. */
const REFUSED_PEOPLE: readonly TestPerson[] = (['not_found', 'deceased', 'not_owner'] as const)
  .flatMap((outcome) => Array.from({ length: 10 }, (_, serial) => testNationalId(outcome, serial)))
  .map((national_id, index) => ({ ...personNumber(FIRST_PERSON + index), national_id }));

/** Every other one is registered. */
const LOCKED_PHONES = Array.from(
  { length: 2 * AT_ONCE },
  (_, index) => personNumber(FIRST_PERSON + 700 + index).phone,
);

/** A send that reached a provider starts the cool-down; one that did not is not counted. */
const reachedProvider = (reply: Reply | undefined): Reply | undefined =>
  reply?.headers.get('retry-after') === '60' && reply.status === 503
    ? { ...reply, json: { code: 'reached provider' } }
    : reply;

const isFailedCheck = (reply: Reply | undefined): Reply | undefined =>
  reply?.status === 422 ? { ...reply, json: { code: 'failed check' } } : reply;

/** Bursts of failed checks, of refused links and of rejected sends: exactly the hourly limits of the key are answered. */
const checkBursts = async (
  options: CampaignOptions,
  toHour: (hour: number) => Promise<number>,
): Promise<void> => {
  const { deployment, used } = options;
  const { key, keyId } = await deployment.newSeller('Bursts');
  const flags = Object.entries(LIMITS).flatMap(([name, limit]) => ['--set', `${name}=${limit}`]);
  await deployment.admin('keys', 'limits', keyId, ...flags, '--yes');
  const send = sender(options, key);
  const post = (phone: string) => send({ method: 'POST', path: '/v1/auth/otp/send', body: { phone } });

  // Over the limit every later link of the key is refused, so that the two limits of links need an hour each.
  for (const { phone, national_id } of REFUSED_PEOPLE) {
    used.phones.add(phone);
    used.nationalIds.add(national_id);
  }
  const failed = {
    check: 'bursts of failed checks',
    code: 'failed check',
    limit: LIMITS['failed-checks-per-hour'],
  };
  await expectBurst(
    options,
    failed,
    REFUSED_PEOPLE.map((person) => async () => isFailedCheck(await link(send, person))),
  );

  await toHour(1);
  const unknown = Array.from({ length: AT_ONCE }, (_, person) => personNumber(FIRST_PERSON + 500 + person));
  const refused = {
    check: 'bursts of refused links',
    code: 'buyer_not_registered',
    limit: LIMITS['refused-links-per-hour'],
  };
  await expectBurst(
    options,
    refused,
    unknown.map((person) => () => link(send, person)),
  );

  const rejected = {
    check: 'bursts of rejected sends',
    code: 'reached provider',
    limit: LIMITS['sms-per-hour'],
  };
  const phones = Array.from({ length: AT_ONCE }, (_, serial) => testPhone('rejected', serial));
  await expectBurst(
    options,
    rejected,
    phones.map((phone) => async () => reachedProvider(await post(phone))),
  );

  await toHour(2);
  const once = {
    check: 'bursts of rejected sends to one phone',
    code: 'reached provider',
    limit: 1,
    beyond: 'resend_too_soon',
  };
  // As many as the hourly limit allows, so that only the cool-down refuses them.
  await expectBurst(
    options,
    once,
    phones
      .slice(0, LIMITS['sms-per-hour'])
      .map(() => async () => reachedProvider(await post(testPhone('rejected', 99)))),
  );
};

/** Wrong codes at once for phones without a code, many times the key's limit: afterwards a buyer with the right code signs in. */
const checkTriesWithoutCode = async (options: CampaignOptions, round: number): Promise<void> => {
  const { deployment, report, used } = options;
  const { key, keyId } = await deployment.newSeller('Tries without a code');
  await deployment.admin('keys', 'limits', keyId, '--set', 'failed-verifies-per-hour=2', '--yes');
  const phones = Array.from(
    { length: AT_ONCE },
    (_, index) => personNumber(FIRST_PERSON + 1500 + index).phone,
  );
  for (const phone of phones) used.phones.add(phone);
  const verify = (phone: string, code: string) =>
    sender(options, key)({ method: 'POST', path: '/v1/auth/otp/verify', body: { phone, code } });
  const tries = countsOf(await Promise.all(phones.map((phone) => verify(phone, '000000'))));
  report.expect('tries without a code: each is code_rejected', tries.code_rejected === AT_ONCE, () =>
    JSON.stringify(tries),
  );
  const { phone } = personNumber(FIRST_PERSON + 1600 + round);
  const isSignedIn = await signIn(deployment, { key, phone }, options);
  report.operation('tries without a code', isSignedIn);
};

/**
 * One person that no registry knows, linked with phones of which every other one is registered: only answers that are counted may tell which.
 * Once its checks are used up, every phone gets the same answer.
 */
const checkLockedPerson = async (options: CampaignOptions, round: number): Promise<void> => {
  const { deployment, report, used } = options;
  const seller = await deployment.newSeller('Locked person', 2 * 3 * AT_ONCE);
  const person = { ...personNumber(FIRST_PERSON), national_id: testNationalId('not_found', 50 + round) };
  used.nationalIds.add(person.national_id);
  const burst = () =>
    Promise.all(LOCKED_PHONES.map((phone) => link(sender(options, seller.nextKey()), { ...person, phone })));
  const first = await burst();
  for (const reply of first) report.operation('bursts', reply !== undefined && reply.status !== 500);
  const failed = countsOf(first).identity_mismatch ?? 0;
  report.expect('bursts of a locked person: at most five checks begin in a minute', failed <= 5, () =>
    JSON.stringify(countsOf(first)),
  );
  const second = countsOf(await burst());
  const isSame = Object.keys(second).every((code) => code === 'too_many_attempts');
  report.expect('bursts of a locked person: every phone gets the same answer', isSame, () =>
    JSON.stringify(second),
  );
};

/** Checks a user with another phone, then with the phone that is erased. */
const moveAndBack = async (send: Send, id: string, person: TestPerson): Promise<void> => {
  const { national_id, birth_date } = person;
  for (const phone of [otherPhoneOf(person), person.phone]) {
    await send({ method: 'POST', path: `/v1/users/${id}/checks`, body: { national_id, birth_date, phone } });
  }
};

/** Links, checks, corrections and removals of a buyer's phone without a pause until its registration is gone. */
const linkUntilErased = async (send: Send, { phone }: TestPerson, first: number): Promise<boolean> => {
  for (let request = 0; request < REQUESTS_PER_ERASURE; request += 1) {
    // Another person each time: the checks of one begin five times a minute.
    const person = { ...personNumber(first + request), phone };
    const reply = await link(send, person);
    if (reply?.json?.code === 'buyer_not_registered') return true;
    if (reply?.status !== 201 && reply?.status !== 200) continue;
    const path = `/v1/users/${reply.json.id}`;
    await moveAndBack(send, reply.json.id, person);
    await send({ method: 'PATCH', path, body: { display_name: `Sara ${request}` } });
    await send({ method: 'DELETE', path });
  }
  return false;
};

/** Erases a buyer while a seller links, checks, corrects and removes it again and again: after that no user has its phone. */
const checkErasure = async (
  options: CampaignOptions,
  send: Send,
  { person, first }: { readonly person: TestPerson; readonly first: number },
): Promise<void> => {
  const { deployment, report, used } = options;
  used.phones.add(person.phone);
  for (let request = 0; request < REQUESTS_PER_ERASURE; request += 1)
    used.nationalIds.add(personNumber(first + request).national_id);
  const [isErased] = await Promise.all([
    linkUntilErased(send, person, first),
    deployment.admin('buyers', 'erase', person.phone, '--yes'),
  ]);
  report.operation('erasures during links', isErased);
  const path = `/v1/users?phone=${encodeURIComponent(person.phone)}`;
  const found = await send({ method: 'GET', path });
  report.expect('erasures during links: no user is left', found?.json?.total === 0, () =>
    JSON.stringify(found?.json),
  );
};

/** What a hostile seller can do within its own limits: bursts, and links while an admin erases the buyer. */
export const abuse: Campaign = {
  name: 'abuse limits',
  async run(options) {
    const { deployment, scale, used } = options;
    const erased = Array.from({ length: Math.ceil(ERASURES * scale) }, (_, index) =>
      personNumber(FIRST_PERSON + 1000 + index),
    );
    await deployment.register([
      ...[...REFUSED_PEOPLE, ...erased].map(({ phone }) => phone),
      ...erased.map(otherPhoneOf),
      ...LOCKED_PHONES.filter((_, index) => index % 2 === 0),
    ]);
    for (const phone of LOCKED_PHONES) used.phones.add(phone);
    for (let index = 0; index < Math.ceil(BURSTS * scale); index += 1) {
      // Each round has hours of its own, in which no phone was sent a code before.
      const toHour = (hour: number) => deployment.toTenPast(index * 4 + hour);
      await toHour(0);
      await checkBursts(options, toHour);
      await toHour(3);
      await checkLockedPerson(options, index);
      await checkTriesWithoutCode(options, index);
    }
    await deployment.shiftClock(0);
    const seller = await deployment.newSeller('Erasures', erased.length * 6 * REQUESTS_PER_ERASURE);
    for (const [index, person] of erased.entries()) {
      const first = FIRST_PERSON + 2000 + index * REQUESTS_PER_ERASURE;
      await checkErasure(options, sender(options, seller.nextKey()), { person, first });
    }
  },
};
