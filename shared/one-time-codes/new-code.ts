import { randomInt } from 'node:crypto';
import { isSandbox, isSandboxPhone } from '#shared/providers/sandbox.ts';
import { CODE_LIMITS } from './rules.ts';

/** Returns a new code for a phone (E.164). */
export type CodeGenerator = (phone: string) => string;

/** Returns random digits, each code equally likely. */
export const randomCode: CodeGenerator = () =>
  String(randomInt(10 ** CODE_LIMITS.digits)).padStart(CODE_LIMITS.digits, '0');

/** Returns the code of the sandbox, which sends nothing: the last digits of the phone. The code of any other phone is random. */
export const sandboxCode: CodeGenerator = (phone) =>
  isSandboxPhone(phone) ? phone.slice(-CODE_LIMITS.digits) : randomCode(phone);

export const codesOf = (smsProviders: readonly string[]): CodeGenerator =>
  isSandbox(smsProviders) ? sandboxCode : randomCode;
