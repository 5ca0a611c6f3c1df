import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { type NewUser, newPerson } from '#test/generated-people.ts';
import { call } from './call.ts';
import type { Target } from './target.ts';

export const toPersianDigits = (text: string): string =>
  text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0x06f0 + Number(digit)));

export const toArabicDigits = (text: string): string =>
  text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0x0660 + Number(digit)));

/** A six-digit code that is not this one. */
export const otherCode = (code: string, step = 1): string =>
  String((Number(code) + step) % 1_000_000).padStart(6, '0');

/** Sends a code of the sandbox to a phone and returns it. */
export const sendCode = async (target: Target, phone: string, key = target.keys.app): Promise<string> => {
  const reply = await call(target, '/v1/auth/otp/send', { key, body: { phone } });
  expect(reply.status).toBe(202);
  return sandboxCode(phone);
};

/** Signs a buyer in, which registers the buyer. Returns the access token. */
export const registerBuyer = async (
  target: Target,
  phone: string,
  key = target.keys.app,
): Promise<string> => {
  const code = await sendCode(target, phone, key);
  const reply = await call(target, '/v1/auth/otp/verify', { key, body: { phone, code } });
  expect(reply.status).toBe(200);
  return reply.json<{ access_token: string }>().access_token;
};

/** A new person whose phone is a registered buyer. */
export const registeredPerson = async (target: Target): Promise<NewUser> => {
  const person = newPerson();
  await registerBuyer(target, person.phone);
  return person;
};
