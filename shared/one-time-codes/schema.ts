import * as v from 'valibot';
import { parsed, shown } from '#shared/fields.ts';
import { DEFAULT_LOCALE, LOCALES } from '#shared/sms/templates.ts';
import { parseCode } from '#shared/values/code.ts';
import { phoneSchema, sentText } from '#shared/values/schemas.ts';
import { CODE_LIFETIME_SECONDS, RESEND_AFTER_SECONDS } from './rules.ts';

const codeSchema = v.pipe(
  sentText(),
  v.description('The six digits that were sent to the phone. Spaces are ignored.'),
  v.examples(['123456']),
  parsed(parseCode, 'Must be six digits.'),
);

const seconds = (description: string, example: number) =>
  v.pipe(v.number(), v.integer(), v.description(description), v.examples([example]));

const localeSchema = v.pipe(
  v.picklist(LOCALES, `Must be ${LOCALES.join(' or ')}.`),
  v.description(
    'The language of the message: `fa` (Persian) or `en` (English). A language without a template gets the Persian message.',
  ),
  v.examples([DEFAULT_LOCALE]),
);

export const sendCodeSchema = v.strictObject({
  phone: phoneSchema,
  locale: v.optional(localeSchema, DEFAULT_LOCALE),
});

export const codeSentSchema = v.pipe(
  v.object({
    expires_in: seconds('Seconds the code is valid.', CODE_LIFETIME_SECONDS),
    resend_after: seconds('Seconds until another code may be sent.', RESEND_AFTER_SECONDS),
  }),
  v.title('CodeSent'),
);

export const verifyCodeSchema = v.strictObject({ phone: phoneSchema, code: codeSchema });

export const accessTokenSchema = v.pipe(
  v.object({
    access_token: shown(
      'A JWT, signed ES256. Verify it with the keys of /.well-known/jwks.json.',
      'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJieXJfLi4uIn0.c2lnbmF0dXJl',
    ),
    token_type: v.literal('Bearer'),
    expires_in: seconds('Seconds until the token expires.', 3600),
  }),
  v.title('AccessToken'),
);
