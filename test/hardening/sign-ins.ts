import { call } from './api.ts';
import type { Deployment } from './deployment.ts';
import type { Report } from './report.ts';
import type { Used } from './used.ts';

const CODE_TWICE = 'no code works twice';
const RIGHT_CODE = 'a right code yields a token';

/** Signs phones in with a seller's key: one code each, verified right and then once more. */
export const signIn = async (
  { baseUrl }: Deployment,
  key: string,
  phone: string,
  { report, used }: { readonly report: Report; readonly used: Used },
): Promise<void> => {
  used.phones.add(phone);
  used.keys.add(key);
  const post = (path: string, body: object) => call(baseUrl(), { method: 'POST', path, key, body }, report);
  const sent = await post('/v1/auth/otp/send', { phone });
  if (sent?.status !== 202) return;
  const messages = await fetch(`${baseUrl()}/_local/messages?phone=${encodeURIComponent(phone)}`);
  const [newest] = (await messages.json()) as { code: string }[];
  if (newest === undefined) return report.violated('a 202 of a send delivers a message', phone.slice(-2));
  used.codes.add(newest.code);
  const body = { phone, code: newest.code };
  let tokens = 0;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const verified = await post('/v1/auth/otp/verify', body);
    if (verified?.status === 200) {
      tokens += 1;
      used.tokens.add(verified.json.access_token);
    }
    if (verified !== undefined && verified.status < 500) {
      const isFirst = tokens === 1 && verified.status === 200;
      const mayBeUsed = attempt > 0;
      report.expect(
        RIGHT_CODE,
        isFirst || mayBeUsed,
        () => `attempt ${attempt + 1} got ${verified.json?.code}`,
      );
      break;
    }
  }
  const again = await post('/v1/auth/otp/verify', body);
  if (again?.status === 200) tokens += 1;
  report.expect(CODE_TWICE, tokens <= 1, () => `${tokens} tokens for one code`);
};
