import * as v from 'valibot';
import { parsed, shown, time } from '#shared/fields.ts';
import { MAX_NAME_CHARACTERS, parseDisplayName } from '#shared/values/display-name.ts';
import {
  birthDateSchema,
  nationalIdSchema,
  PHONE_EXAMPLE,
  phoneSchema,
  text,
} from '#shared/values/schemas.ts';
import { EXTERNAL_ID_PATTERN, parseExternalId } from './external-id.ts';
import { USER_ID } from './user-id.ts';

const displayNameSchema = v.pipe(
  text(),
  v.description(
    `The name to show: 1 to ${MAX_NAME_CHARACTERS} characters after trimming and Unicode NFC. At least one is visible: a letter, ` +
      'number, symbol or emoji. No control, line-separator or invisible characters; at most four combining marks in a row. Joiners and ' +
      'direction marks at either end are trimmed like spaces.',
  ),
  v.examples(['Sara Ahmadi']),
  v.metadata({ minLength: 1 }),
  parsed(
    parseDisplayName,
    `Must be 1 to ${MAX_NAME_CHARACTERS} characters, at least one visible, without control, line-separator or invisible characters.`,
  ),
);

export const externalIdSchema = v.pipe(
  text(),
  v.description(
    'Your own reference of the user, unique among your users: 1 to 64 of `A-Z a-z 0-9 . _ : -`. A national id or a mobile number is ' +
      'rejected, with or without separators. About one in ten random ten-digit numbers is a valid national id, and each that begins with 9 ' +
      'is a mobile number: prefix numeric references, as in `order:1234567890`. Behind a prefix, a mobile number with its 0, 98 or 0098 is ' +
      'rejected too; a national id, and one that lost its zeros, is not found there: do not send it. A UUID is never rejected.',
  ),
  v.examples(['order:1234567890']),
  v.metadata({ pattern: EXTERNAL_ID_PATTERN }),
  parsed(
    parseExternalId,
    'Must be 1 to 64 of A-Z a-z 0-9 . _ : and -, no national id, and without a mobile number: prefix numeric references, as in order:1234567890.',
  ),
);

const person = { national_id: nationalIdSchema, birth_date: birthDateSchema, phone: phoneSchema };

export const checkedPersonSchema = v.strictObject(person);

export const newUserSchema = v.strictObject({
  ...person,
  display_name: displayNameSchema,
  external_id: v.optional(externalIdSchema),
});

export type NewUser = v.InferOutput<typeof newUserSchema>;

const AT_LEAST_ONE = 'Give display_name, external_id or both.';

export const userUpdateSchema = v.pipe(
  v.strictObject({
    display_name: v.optional(displayNameSchema),
    external_id: v.optional(v.nullable(externalIdSchema)),
  }),
  v.forward(
    v.partialCheck(
      [['display_name'], ['external_id']],
      ({ display_name, external_id }) => display_name !== undefined || external_id !== undefined,
      AT_LEAST_ONE,
    ),
    ['display_name'],
  ),
);

export type UserUpdate = v.InferOutput<typeof userUpdateSchema>;

export const USER_ID_EXAMPLE = 'usr_000002bv0aLkW9yRc3mNpd';

const userIdSchema = v.pipe(
  v.string(),
  v.regex(USER_ID),
  v.description('The id of the user: usr_ and 22 letters and digits.'),
  v.examples([USER_ID_EXAMPLE]),
);

export const userPathSchema = v.strictObject({ id: userIdSchema });

const TIME_EXAMPLE = '2026-11-21T08:30:00.000Z';

/** What a key without users:read may see of a user: nothing of the person. */
const withoutPerson = {
  id: userIdSchema,
  external_id: v.pipe(
    v.nullable(v.string()),
    v.description('Your own reference of the user; null if it has none.'),
    v.examples(['order:1234567890']),
  ),
  display_name: v.pipe(v.string(), v.examples(['Sara Ahmadi'])),
  created_at: time('The time of the link, in UTC.', TIME_EXAMPLE),
  checked_at: time(
    'When both registries last confirmed the person and the phone, in UTC: at first with the link.',
    TIME_EXAMPLE,
  ),
};

export const correctedUserSchema = v.pipe(v.object(withoutPerson), v.title('CorrectedUser'));

const { id, external_id, ...name } = withoutPerson;

export const userSchema = v.pipe(
  v.object({
    id,
    external_id,
    national_id: shown('Masked: six stars and the last four digits.', '******0829'),
    birth_date: shown('As it was sent, without zero padding.', '1370/1/15'),
    phone: shown('The phone in E.164 form.', PHONE_EXAMPLE),
    ...name,
  }),
  v.title('User'),
);

export type User = v.InferOutput<typeof userSchema>;
