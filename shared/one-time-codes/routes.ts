import type { Route } from '#shared/route.ts';
import { accessTokenSchema, codeSentSchema, sendCodeSchema, verifyCodeSchema } from './schema.ts';

export const oneTimeCodeRoutes = {
  'send-otp': {
    name: 'send-otp',
    method: 'POST',
    path: '/v1/auth/otp/send',
    access: { by: 'otp' },
    tag: 'One-time codes',
    summary: 'Send a one-time code',
    description:
      'Sends six digits by SMS, valid for 300 seconds and for one use. A new code replaces the old one. The response is the same ' +
      'for every phone. Limits of a phone: 60 seconds between sends, 5 sends in 10 minutes, 10 in 24 hours.',
    body: sendCodeSchema,
    responses: { 202: { description: 'The code is on its way.', schema: codeSentSchema } },
    problems: ['resend_too_soon', 'sms_unavailable'],
    permissions: { table: { 'CODE#': ['GetItem', 'UpdateItem'] }, hashes: true, sms: true },
    memoryMb: 1024,
    timeoutSeconds: 20,
    impact: 'Buyers get no sign-in codes.',
  },
  'verify-otp': {
    name: 'verify-otp',
    method: 'POST',
    path: '/v1/auth/otp/verify',
    access: { by: 'otp' },
    tag: 'One-time codes',
    summary: 'Verify a one-time code',
    description:
      'Exchanges the code for an access token. A code allows five tries. After ten consecutive failures, over all codes, the phone ' +
      'is locked for 15 minutes. A wrong, expired, used or never sent code gets the same response.',
    body: verifyCodeSchema,
    responses: { 200: { description: 'The code was right.', schema: accessTokenSchema } },
    problems: ['code_rejected', 'too_many_attempts'],
    permissions: {
      table: { 'CODE#': ['UpdateItem'], 'BUYER#': ['UpdateItem'] },
      hashes: true,
      signingKey: 'sign',
      tokenIssuer: true,
    },
    memoryMb: 1024,
    timeoutSeconds: 10,
    impact: 'Buyers cannot sign in.',
  },
} as const satisfies Record<string, Route>;
