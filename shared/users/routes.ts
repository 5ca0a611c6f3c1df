import type { Route } from '#shared/route.ts';
import { newUserSchema, userPageQuerySchema, userPageSchema, userSchema } from './schema.ts';

export const userRoutes = {
  'create-user': {
    name: 'create-user',
    method: 'POST',
    path: '/v1/users',
    access: { by: 'key', scope: 'users:write' },
    tag: 'Users',
    summary: 'Link a buyer',
    description:
      'Checks that the phone is a registered buyer, that a living person has this national_id and birth_date, and that the phone ' +
      'belongs to that person. Then links the buyer to your account. The same national_id, phone and birth_date again return ' +
      '200 with the existing user without a new check, so you can repeat a request after a timeout.',
    body: newUserSchema,
    responses: {
      201: { description: 'The buyer is linked.', schema: userSchema },
      200: { description: 'The buyer was already linked; the existing user.', schema: userSchema },
    },
    problems: [
      'buyer_not_registered',
      'user_conflict',
      'identity_mismatch',
      'phone_not_owned',
      'verification_unavailable',
    ],
    permissions: {
      table: {
        'SELLER#': ['GetItem', 'UpdateItem'],
        'USERS#': ['GetItem', 'PutItem'],
        'PERSON#': ['GetItem', 'BatchGetItem', 'PutItem', 'ConditionCheckItem'],
        'BUYER#': ['GetItem', 'BatchGetItem'],
        'LIMIT#': ['BatchGetItem'],
      },
      hashes: true,
      identityRegistry: true,
    },
    memoryMb: 1024,
    timeoutSeconds: 20,
    impact: 'Sellers cannot link buyers.',
  },
  'list-users': {
    name: 'list-users',
    method: 'GET',
    path: '/v1/users',
    access: { by: 'key', scope: 'users:read' },
    tag: 'Users',
    summary: 'List your users',
    description:
      'The users linked to your account, oldest link first. Pages never shift: a user stays on its page. ' +
      'A page past the end is empty. Every page takes the same time.',
    query: userPageQuerySchema,
    responses: {
      200: {
        description: 'One page of users.',
        schema: userPageSchema,
        headers: { Link: 'The first, prev, next and last pages, where they exist (RFC 8288).' },
      },
    },
    problems: [],
    permissions: { table: { 'SELLER#': ['GetItem'], 'USERS#': ['Query'] } },
    memoryMb: 1024,
    timeoutSeconds: 10,
    impact: 'Sellers cannot see their users.',
  },
} as const satisfies Record<string, Route>;
