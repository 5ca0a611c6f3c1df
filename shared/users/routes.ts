import { HOURLY_CHECK_LIMITS } from '#shared/rate-limits/key-limits.ts';
import { PERSON_LIMITS } from '#shared/rate-limits/person-limits.ts';
import { type Row, routeRows } from '#shared/route.ts';
import { COUNTS_OF_SELLER } from '#shared/table/keys.ts';
import { MAX_PAGE_SIZE, userPageQuerySchema, userPageSchema } from './page-schema.ts';
import {
  checkedPersonSchema,
  correctedUserSchema,
  newUserSchema,
  userPathSchema,
  userSchema,
  userUpdateSchema,
} from './schema.ts';

const CHANGED_BY_CHECK = 'POST /v1/users/{id}/checks changes it.';

const byId = { schema: userPathSchema, problem: 'user_not_found' } as const;

/** An id that no user has, so that a removal finds none. */
const NO_USER = { id: `usr_${'0'.repeat(6)}1${'0'.repeat(15)}` } as const;

export const userRoutes = routeRows('Users', {
  'create-user': {
    method: 'POST',
    path: '/v1/users',
    repeatable: true,
    access: { by: 'key', scope: 'users:write' },
    summary: 'Link a buyer',
    description:
      'Checks that the phone is a registered buyer, that a living person has this national_id and birth_date, and that the phone ' +
      'belongs to that person. Then links the buyer to your account. The same `national_id`, `phone` and `birth_date` again return ' +
      '200 with the existing user without a new check, so you can repeat a request after a timeout. ' +
      'A repeated link ignores display_name and external_id. ' +
      'After the buyer has ended the link, the response is link_refused, unless Authorization: Bearer carries an access token of a newer sign-in of that phone for your account. ' +
      `After ${PERSON_LIMITS['begun-checks'].maximum} checks of a person in a minute, and after ${PERSON_LIMITS['failed-checks'].maximum} failed ones in a day (UTC), the response is too_many_attempts.`,
    body: newUserSchema,
    responses: {
      201: { description: 'The buyer is linked.', schema: userSchema },
      200: { description: 'The buyer was already linked; the existing user.', schema: userSchema },
    },
    problems: [
      'invalid_access_token',
      'link_refused',
      'buyer_not_registered',
      'user_conflict',
      'external_id_conflict',
      'identity_mismatch',
      'phone_not_owned',
      'too_many_attempts',
      'verification_unavailable',
    ],
    limitsRead: HOURLY_CHECK_LIMITS,
    check: { body: {}, expects: 'validation_failed' },
    permissions: {
      table: {
        'SELLER#': ['GetItem', 'UpdateItem'],
        'USERS#': ['GetItem', 'PutItem'],
        'EXTERNAL#': ['BatchGetItem', 'PutItem'],
        'EVENTS#': ['PutItem'],
        'LINKS#': ['PutItem', 'DeleteItem'],
        'PERSON#': ['BatchGetItem', 'PutItem', 'ConditionCheckItem', 'DeleteItem'],
        'BUYER#': ['BatchGetItem', 'ConditionCheckItem'],
        'LIMIT#': ['BatchGetItem'],
      },
      updates: { 'SELLER#': COUNTS_OF_SELLER },
      hashes: true,
      signingKey: 'publish',
      tokenIssuer: true,
      identityRegistry: true,
    },
    timeoutSeconds: 20,
    deadlineSeconds: 20,
  },
  'list-users': {
    method: 'GET',
    path: '/v1/users',
    access: { by: 'key', scope: 'users:read' },
    summary: 'List your users',
    description:
      `The users linked to your account, oldest link first, up to ${MAX_PAGE_SIZE} on a page. ` +
      'Every page but the last is full. New links never move a user; a removal moves the later users up by one. ' +
      'A page past total_pages is empty. Every page takes about the same time. ' +
      'To read all users, start with page 1 and go on with `after`, the `next_after` of each response, until it is null: nothing is skipped or ' +
      'repeated, whatever is linked or removed meanwhile. ' +
      'With `phone`, only the users linked with that phone, the one that was checked last first; with `external_id`, only the user that has it.',
    query: userPageQuerySchema,
    responses: {
      200: {
        description: 'One page of users.',
        schema: userPageSchema,
        headers: { Link: 'The first, prev, next and last pages, where they exist (RFC 8288).' },
      },
    },
    check: { expects: 200 },
    permissions: {
      table: {
        'SELLER#': ['BatchGetItem'],
        'REMOVALS#': ['BatchGetItem', 'GetItem'],
        'USERS#': ['Query', 'BatchGetItem', 'GetItem'],
        'LINKS#': ['Query'],
        'EXTERNAL#': ['GetItem'],
      },
      hashes: true,
    },
  },
  'get-user': {
    method: 'GET',
    path: '/v1/users/{id}',
    access: { by: 'key', scope: 'users:read' },
    summary: 'Read a user',
    description:
      'The user with this id. An id that is unknown, was removed or belongs to another account gets the same 404.',
    pathParameters: byId,
    responses: { 200: { description: 'The user.', schema: userSchema } },
    problems: ['user_not_found'],
    check: { pathParameters: NO_USER, expects: 'user_not_found' },
    permissions: { table: { 'USERS#': ['GetItem'] } },
  },
  'update-user': {
    method: 'PATCH',
    path: '/v1/users/{id}',
    repeatable: true,
    access: { by: 'key', scope: 'users:write' },
    summary: 'Correct a user',
    description:
      'Changes the display_name, the external_id or both; `null` clears the external_id. A field that is left out stays as it is. ' +
      'Phone and birth date change by a new check: POST /v1/users/{id}/checks. The response has nothing that users:read protects.',
    pathParameters: byId,
    body: userUpdateSchema,
    fieldsElsewhere: { phone: CHANGED_BY_CHECK, birth_date: CHANGED_BY_CHECK },
    responses: { 200: { description: 'The user as it is now.', schema: correctedUserSchema } },
    problems: ['user_not_found', 'external_id_conflict'],
    check: { pathParameters: NO_USER, body: { display_name: 'Deploy check' }, expects: 'user_not_found' },
    permissions: {
      table: {
        'SELLER#': ['BatchGetItem', 'UpdateItem'],
        'USERS#': ['BatchGetItem', 'PutItem'],
        'EXTERNAL#': ['PutItem', 'DeleteItem'],
        'EVENTS#': ['PutItem'],
      },
      updates: { 'SELLER#': COUNTS_OF_SELLER },
    },
  },
  'check-user': {
    method: 'POST',
    path: '/v1/users/{id}/checks',
    repeatable: true,
    access: { by: 'key', scope: 'users:write' },
    summary: 'Check a user again',
    description:
      'Checks as for a link that the phone belongs to the person of the user, because operators sell withdrawn numbers again. The phone may be ' +
      'another one, whose buyer is registered. Then `checked_at` is now, and `phone` and `birth_date` are those of the request; the `id` stays. ' +
      'After a verdict against the person the user stays as it is. The same data again within 60 seconds return 200 without a new check.',
    pathParameters: byId,
    body: checkedPersonSchema,
    responses: { 200: { description: 'The user as it is now.', schema: userSchema } },
    problems: [
      'user_not_found',
      'user_conflict',
      'buyer_not_registered',
      'identity_mismatch',
      'phone_not_owned',
      'too_many_attempts',
      'verification_unavailable',
    ],
    limitsRead: HOURLY_CHECK_LIMITS,
    check: {
      pathParameters: NO_USER,
      // A test person.
      body: { national_id: '9997000005', birth_date: '1370/1/15', phone: '09990000000' },
      expects: 'user_not_found',
    },
    permissions: {
      table: {
        'SELLER#': ['BatchGetItem', 'UpdateItem'],
        'USERS#': ['BatchGetItem', 'PutItem'],
        'EVENTS#': ['PutItem'],
        'LINKS#': ['PutItem', 'DeleteItem'],
        'PERSON#': ['BatchGetItem', 'PutItem'],
        'BUYER#': ['BatchGetItem', 'ConditionCheckItem'],
        'LIMIT#': ['BatchGetItem'],
      },
      updates: { 'SELLER#': COUNTS_OF_SELLER },
      hashes: true,
      identityRegistry: true,
    },
    timeoutSeconds: 20,
    deadlineSeconds: 20,
  },
  'delete-user': {
    method: 'DELETE',
    path: '/v1/users/{id}',
    access: { by: 'key', scope: 'users:write' },
    summary: 'Remove a user',
    description:
      'Removes the link and all personal data of it. The same request again returns 204 too, so you can repeat it after a timeout. ' +
      'After that you can link the same person again, with new checks and a new id.',
    pathParameters: byId,
    responses: { 204: { description: 'The user is removed.' } },
    problems: ['user_not_found'],
    check: { pathParameters: NO_USER, expects: 'user_not_found' },
    permissions: {
      table: {
        'SELLER#': ['BatchGetItem', 'UpdateItem'],
        'USERS#': ['BatchGetItem', 'DeleteItem'],
        'REMOVED#': ['BatchGetItem', 'PutItem'],
        'REMOVALS#': ['BatchGetItem', 'PutItem'],
        'EVENTS#': ['PutItem'],
        'EXTERNAL#': ['DeleteItem'],
        'PERSON#': ['DeleteItem'],
        'LINKS#': ['DeleteItem'],
      },
      updates: { 'SELLER#': COUNTS_OF_SELLER },
    },
  },
} as const satisfies Record<string, Row>);
