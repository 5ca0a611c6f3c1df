import { call } from '../api.ts';
import { personNumber } from '../people.ts';
import { signIn } from '../sign-ins.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';

const FIRST_PERSON = 90_000;
const ROUNDS = 5;
const AT_ONCE = 30;

/** Wrong codes at once for phones without a code, many times the key's limit: afterwards a buyer with the right code signs in. */
const checkRound = async (options: CampaignOptions, round: number): Promise<void> => {
  const { deployment, report, used } = options;
  const { key, keyId } = await deployment.newSeller(`Tries without a code ${round}`);
  await deployment.admin('keys', 'limits', keyId, '--set', 'failed-verifies-per-hour=2', '--yes');
  used.keys.add(key);
  const first = FIRST_PERSON + round * 2 * AT_ONCE;
  const phones = Array.from({ length: AT_ONCE }, (_, index) => personNumber(first + index).phone);
  const verify = (phone: string) => {
    used.phones.add(phone);
    const body = { phone, code: '000000' };
    return call(deployment.baseUrl(), { method: 'POST', path: '/v1/auth/otp/verify', key, body }, report);
  };
  const codes = (await Promise.all(phones.map(verify))).map((reply) => reply?.json?.code);
  report.expect(
    'tries without a code: each is code_rejected',
    codes.every((code) => code === 'code_rejected'),
    () => codes.join(' '),
  );
  const { phone } = personNumber(first + AT_ONCE);
  report.operation('tries without a code', await signIn(deployment, { key, phone }, options));
};

/** A stranger who knows no code tries codes of many phones through the form of a shop: its buyers still sign in. */
export const triesWithoutCode: Campaign = {
  name: 'tries without a code',
  async run(options) {
    for (let round = 0; round < Math.ceil(ROUNDS * options.scale); round += 1)
      await checkRound(options, round);
  },
};
