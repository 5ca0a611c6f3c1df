import { randomInt } from 'node:crypto';
import { newDemoPerson } from '#local/demo/people.ts';
import { call } from './call.ts';
import type { Target } from './target.ts';

/** A body of POST /v1/users. */
export interface NewUser {
  readonly national_id: string;
  readonly birth_date: string;
  readonly phone: string;
  readonly display_name: string;
}

/** Every person that this process generated, for the test that no personal data is logged. */
export const peopleMade: NewUser[] = [];

/** A generated person, with a name to find again. */
export const newPerson = (): NewUser => {
  const person = { ...newDemoPerson(), display_name: `Person ${randomInt(1_000_000)}` };
  peopleMade.push(person);
  return person;
};

/** A phone of the range (0999) that the sandbox accepts. */
export const newPhone = (): string => newDemoPerson().phone;

export const toPersianDigits = (text: string): string =>
  text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0x06f0 + Number(digit)));

export const toArabicDigits = (text: string): string =>
  text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0x0660 + Number(digit)));

/** A six-digit code that is not this one. */
export const otherCode = (code: string, step = 1): string =>
  String((Number(code) + step) % 1_000_000).padStart(6, '0');

/** Sends a code to a phone and returns it. */
export const sendCode = async (target: Target, phone: string, key = target.keys.app): Promise<string> => {
  const reply = await call(target, '/v1/auth/otp/send', { key, body: { phone } });
  expect(reply.status).toBe(202);
  const [newest] = await target.messages(phone);
  return newest?.code ?? '';
};

/** Signs a buyer in with the buyer app's key, which registers the buyer. Returns the access token. */
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
