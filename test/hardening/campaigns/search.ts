import { testNationalId } from '#shared/providers/test-identities.ts';
import { call, type Reply } from '../api.ts';
import { personNumber, type TestPerson } from '../people.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';

const FIRST_PERSON = 95_000;
const GUESSES = 40;
const REFUSED_LINKS = 10;

/** Links a person, then tries to find out its national id from its phone and birth date, the right id after each guess. */
const search = async (
  { deployment, report, used }: CampaignOptions,
  victim: TestPerson,
  limits: readonly string[],
): Promise<Reply[]> => {
  const { key, keyId } = await deployment.newSeller('Search');
  used.keys.add(key);
  used.phones.add(victim.phone);
  used.nationalIds.add(victim.national_id);
  await deployment.admin('keys', 'limits', keyId, ...limits.flatMap((limit) => ['--set', limit]), '--yes');
  const link = (body: TestPerson) =>
    call(deployment.baseUrl(), { method: 'POST', path: '/v1/users', key, body }, report);
  const linked = await link(victim);
  report.expect('search: the person is linked', linked?.status === 201, () => `${linked?.status}`);
  const replies: (Reply | undefined)[] = [];
  for (let guess = 0; guess < GUESSES; guess += 1) {
    // The check of such an id ends without a verdict, as every check does while the registries are down.
    const national_id = testNationalId('upstream_down', guess);
    used.nationalIds.add(national_id);
    replies.push(await link({ ...victim, national_id }), await link(victim));
  }
  for (const reply of replies) report.operation('guesses of a national id', reply !== undefined);
  return replies.filter((reply) => reply !== undefined);
};

const codesOf = (replies: readonly Reply[]): string[] =>
  replies.map(({ status, json }) => json?.code ?? String(status));

/** A search for the national id of a linked person while no check gets a verdict: each miss is counted, or no answer tells anything. */
export const searches: Campaign = {
  name: 'search while checks are unavailable',
  async run(options) {
    const { deployment, report } = options;
    const victims = [personNumber(FIRST_PERSON), personNumber(FIRST_PERSON + 1)] as const;
    await deployment.register(victims.map(({ phone }) => phone));
    await deployment.toTenPast();

    const usedUp = await deployment.withUncounted(() =>
      search(options, victims[0], ['paid-checks-per-day=1']),
    );
    const codesUsedUp = codesOf(usedUp.result);
    report.expect(
      'search: while the paid checks are used up, the right id and a wrong one get the same answer',
      codesUsedUp.filter((code) => code !== 'rate_limit_exceeded').length <= usedUp.uncounted,
      () => codesUsedUp.join(' '),
    );

    const limits = ['paid-checks-per-day=1000', `refused-links-per-hour=${REFUSED_LINKS}`];
    const down = await deployment.withUncounted(() => search(options, victims[1], limits));
    const codes = codesOf(down.result);
    const misses = codes.filter((code) => code === 'verification_unavailable').length;
    const most = REFUSED_LINKS + down.uncounted;
    report.expect(
      'search: while no check gets a verdict, each miss is a refused link',
      misses >= REFUSED_LINKS &&
        misses <= most &&
        codes.slice(2 * most).every((code) => code === 'rate_limit_exceeded'),
      () => codes.join(' '),
    );
    await deployment.shiftClock(0);
  },
};
