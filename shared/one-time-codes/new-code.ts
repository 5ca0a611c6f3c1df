import { randomInt } from 'node:crypto';
import { isSandbox, isSandboxPhone } from '#shared/providers/sandbox.ts';
import { CODE_LIMITS } from './rules.ts';

type CodeGenerator = (phone: string) => string;

export const randomCode: CodeGenerator = () =>
  String(randomInt(10 ** CODE_LIMITS.digits)).padStart(CODE_LIMITS.digits, '0');

/** The sandbox sends nothing: its code is the end of the phone. */
export const sandboxCode: CodeGenerator = (phone) =>
  isSandboxPhone(phone) ? phone.slice(-CODE_LIMITS.digits) : randomCode(phone);

export const codesOf = (smsProviders: readonly string[]): CodeGenerator =>
  isSandbox(smsProviders) ? sandboxCode : randomCode;
