import * as v from 'valibot';
import { shown } from '#shared/fields.ts';
import { DEFAULT_LOCALE, LOCALES } from '#shared/sms/templates.ts';
import { inAnyScript, toAsciiDigits } from '#shared/values/digits.ts';
import { phoneSchema } from '#shared/values/schemas.ts';
import { CODE_LIFETIME_SECONDS, RESEND_AFTER_SECONDS } from './rules.ts';

const SIX_DIGITS = /^[0-9]{6}$/;
/** A phone shows a code in groups, and people type it so. */
const SPACED_SIX_DIGITS = /^ *(?:[0-9] *){6}$/;

const codeSchema = v.pipe(
  v.string('Must be a string.'),
  v.description('The six digits that were sent to the phone. Spaces are ignored.'),
  v.examples(['123456']),
  v.metadata({ pattern: inAnyScript(SPACED_SIX_DIGITS) }),
  v.transform((sent) => toAsciiDigits(sent).replaceAll(' ', '')),
  v.regex(SIX_DIGITS, 'Must be six digits.'),
);

const seconds = (description: string, example: number) =>
  v.pipe(v.number(), v.integer(), v.description(description), v.examples([example]));

const localeSchema = v.pipe(
  v.picklist(LOCALES, `Must be ${LOCALES.join(' or ')}.`),
  v.description(
    'The language of the message: fa (Persian) or en (English). A language without a template gets the Persian message.',
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
