import { PHONE_LIMITS } from '#shared/rate-limits/person-limits.ts';
import { type Row, routeRows } from '#shared/route.ts';
import { CODE_LIMITS, MAX_CONSECUTIVE_FAILURES, RESEND_AFTER_SECONDS, sendLimitText } from './rules.ts';
import { accessTokenSchema, codeSentSchema, sendCodeSchema, verifyCodeSchema } from './schema.ts';

const { digits, lifetimeSeconds, triesPerCode, sendLimits, sendLimitsOfBuyerApp, locks } = CODE_LIMITS;

export const oneTimeCodeRoutes = routeRows('One-time codes', {
  'send-otp': {
    method: 'POST',
    path: '/v1/auth/otp/send',
    repeatable: false,
    access: { by: 'otp' },
    summary: 'Send a one-time code',
    description:
      `Sends ${digits} digits by SMS, valid for ${lifetimeSeconds} seconds and for one use. A new code replaces your old one. The ` +
      `response is the same for every phone. Limits per phone, for you: ${RESEND_AFTER_SECONDS} seconds between sends, ` +
      `${sendLimitText(sendLimits[1])}, ${sendLimitText(sendLimits[2])}; with buyers:register then one an hour, up to ${sendLimitText(sendLimitsOfBuyerApp[3])}. Over all sellers: ${PHONE_LIMITS.sms.maximum} sends in a day (UTC). While the phone is ` +
      'locked for you, nothing is sent. The text of the message is a template that the operator of the service chose, for you or for all ' +
      'sellers, one per language.',
    body: sendCodeSchema,
    responses: { 202: { description: 'The SMS provider accepted the code.', schema: codeSentSchema } },
    problems: ['resend_too_soon', 'too_many_attempts', 'sms_unavailable'],
    limitsRead: ['sms-per-hour'],
    check: { body: {}, expects: 'validation_failed' },
    permissions: {
      table: {
        'CODE#': ['BatchGetItem', 'UpdateItem'],
        'SELLER#': ['BatchGetItem'],
        'LIMIT#': ['BatchGetItem'],
      },
      hashes: true,
      sms: true,
    },
    timeoutSeconds: 20,
    deadlineSeconds: 20,
  },
  'verify-otp': {
    method: 'POST',
    path: '/v1/auth/otp/verify',
    repeatable: false,
    access: { by: 'otp' },
    summary: 'Verify a one-time code',
    description:
      `Exchanges the code for an access token. A code allows ${triesPerCode} tries. Failures are counted per phone, for you, and only ` +
      `a verified code sets the count to 0. Every tenth failure locks the phone for you: for ${locks[0].lockSeconds / 60} minutes, ` +
      `then for longer, at most 24 hours; at ${MAX_CONSECUTIVE_FAILURES} until an operator of the service unlocks it. A wrong, ` +
      'expired, used or never sent code, and a code sent by another seller, get the same response.',
    body: verifyCodeSchema,
    responses: { 200: { description: 'The code is correct.', schema: accessTokenSchema } },
    problems: ['code_rejected', 'too_many_attempts'],
    limitsRead: ['failed-verifies-per-hour'],
    // No code of the sandbox, which ends as its phone.
    check: { body: { phone: '09990000000', code: '000001' }, expects: 'code_rejected' },
    permissions: {
      table: { 'CODE#': ['UpdateItem'], 'BUYER#': ['UpdateItem'] },
      hashes: true,
      signingKey: 'sign',
      tokenIssuer: true,
      smsProviders: true,
    },
  },
} as const satisfies Record<string, Row>);
