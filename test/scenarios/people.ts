import { randomInt } from 'node:crypto';
import { completeNationalId } from '#shared/users/national-id.ts';
import { call } from './call.ts';
import type { Target } from './target.ts';

/** A body of POST /v1/users. */
export interface NewUser {
  readonly national_id: string;
  readonly birth_date: string;
  readonly phone: string;
  readonly display_name: string;
}

/** Every person that was made up in this process: for the test that nothing of them stands where it must not. */
export const peopleMade: NewUser[] = [];

const randomDigits = (count: number): string =>
  Array.from({ length: count }, () => String(randomInt(10))).join('');

/** A person who belongs to nobody: national ids that begin with 9990 are given to no one, and hold no special test identity. */
export const newPerson = (): NewUser => {
  const person = {
    national_id: completeNationalId(`9990${randomDigits(5)}`),
    birth_date: `13${60 + randomInt(30)}/${1 + randomInt(12)}/${1 + randomInt(29)}`,
    phone: newPhone(),
    display_name: `Person ${randomDigits(6)}`,
  };
  peopleMade.push(person);
  return person;
};

/** A phone in a range (0955) that no operator uses. */
export const newPhone = (): string => `+98955${randomDigits(7)}`;

export const toPersianDigits = (text: string): string =>
  text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0x06f0 + Number(digit)));

export const toArabicDigits = (text: string): string =>
  text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0x0660 + Number(digit)));

/** A six-digit code that is not this one. */
export const otherCode = (code: string, step = 1): string =>
  String((Number(code) + step) % 1_000_000).padStart(6, '0');

/** Has a code sent to a phone; gives the code. */
export const sendCode = async (target: Target, phone: string, key = target.keys.app): Promise<string> => {
  const reply = await call(target, '/v1/auth/otp/send', { key, body: { phone } });
  expect(reply.status).toBe(202);
  const [newest] = await target.messages(phone);
  return newest?.code ?? '';
};

/** Signs a buyer in with the buyer app's key, which registers the buyer; gives the access token. */
export const registerBuyer = async (target: Target, phone: string): Promise<string> => {
  const code = await sendCode(target, phone);
  const reply = await call(target, '/v1/auth/otp/verify', { key: target.keys.app, body: { phone, code } });
  expect(reply.status).toBe(200);
  return reply.json<{ access_token: string }>().access_token;
};

/** A new person whose phone is a registered buyer. */
export const registeredPerson = async (target: Target): Promise<NewUser> => {
  const person = newPerson();
  await registerBuyer(target, person.phone);
  return person;
};
