import { STAGE_TEMPLATES } from '#test/simulators/message-templates.ts';
import { call } from './api.ts';
import type { Deployment } from './deployment.ts';
import type { Report } from './report.ts';
import type { Used } from './used.ts';

const CODE_TWICE = 'no code works twice';
const RIGHT_CODE = 'a right code yields a token';
const ATTEMPTS = 3;

interface Recorders {
  readonly report: Report;
  readonly used: Used;
}

/** A code that a seller's key sent to a phone. */
export interface SentCode {
  readonly key: string;
  readonly phone: string;
  readonly code: string;
}

const post = ({ baseUrl }: Deployment, key: string, path: string, body: object, report: Report) =>
  call(baseUrl(), { method: 'POST', path, key, body }, report);

/** Sends a code and reads it from the SMS simulator. Undefined if the send was refused. No other send to the phone may run meanwhile. */
export const sendCode = async (
  deployment: Deployment,
  { key, phone, locale = 'fa' }: Pick<SentCode, 'key' | 'phone'> & { readonly locale?: 'fa' | 'en' },
  { report, used }: Recorders,
): Promise<SentCode | undefined> => {
  used.phones.add(phone);
  used.keys.add(key);
  const sent = await post(deployment, key, '/v1/auth/otp/send', { phone, locale }, report);
  if (sent?.status !== 202) return undefined;
  const [newest] = deployment.simulators.messages(phone);
  report.expect('a 202 of a send delivers a message', newest !== undefined, () => `…${phone.slice(-2)}`);
  if (newest === undefined) return undefined;
  const { name, id } = STAGE_TEMPLATES[locale];
  const isInLanguage = newest.template === name || newest.template === id;
  report.expect('a message is in the language of its request', isInLanguage, () => locale);
  used.codes.add(newest.code);
  return { key, phone, code: newest.code };
};

/** Verifies a code until it gets a definite response, at most three times. Returns that response, if it got one, and the number of attempts. */
const verify = async (deployment: Deployment, { key, ...body }: SentCode, { report, used }: Recorders) => {
  for (let attempts = 1; ; attempts += 1) {
    const reply = await post(deployment, key, '/v1/auth/otp/verify', body, report);
    if (reply?.status === 200) used.tokens.add(reply.json.access_token);
    if (reply !== undefined && reply.status < 500) return { reply, attempts };
    if (attempts === ATTEMPTS) return { reply: undefined, attempts };
  }
};

/**
 * Verifies a right code, and the same code again. The first must yield a token, the second must not. Returns whether both got a definite
 * response.
 */
export const verifyTwice = async (
  deployment: Deployment,
  sent: SentCode,
  recorders: Recorders,
): Promise<boolean> => {
  const { report } = recorders;
  const first = await verify(deployment, sent, recorders);
  // An earlier attempt without a definite response may have used the code.
  const holds = first.reply?.status === 200 || first.attempts > 1;
  report.expect(
    RIGHT_CODE,
    holds,
    () => `${first.reply?.json?.code}, request ${first.reply?.json?.request_id}`,
  );
  const again = await verify(deployment, sent, recorders);
  const tokens = [first, again].filter(({ reply }) => reply?.status === 200).length;
  report.expect(CODE_TWICE, tokens <= 1, () => `${tokens} tokens for one code`);
  return first.reply !== undefined && again.reply !== undefined;
};

/** Signs a phone in with a seller's key. Returns false if a send or a verification got no definite response. */
export const signIn = async (
  deployment: Deployment,
  { key, phone }: Pick<SentCode, 'key' | 'phone'>,
  recorders: Recorders,
): Promise<boolean> => {
  const sent = await sendCode(deployment, { key, phone }, recorders);
  return sent !== undefined && verifyTwice(deployment, sent, recorders);
};
