import { PHONE_LIMITS } from '#shared/rate-limits/person-limits.ts';
import { type Row, routeRows } from '#shared/route.ts';
import { COUNTS_OF_SELLER } from '#shared/table/keys.ts';
import { buyerLinksSchema, claimedPersonSchema, linkPathSchema } from './schema.ts';

const WITH_TOKEN =
  'The buyer app sends its key in X-Api-Key and the access token of the signed-in buyer as Authorization: Bearer.';

export const buyerRoutes = routeRows('Buyer app', {
  'find-links': {
    method: 'POST',
    path: '/v1/buyer/links/find',
    repeatable: true,
    access: { by: 'buyer', scope: 'buyers:links' },
    summary: 'Show a buyer its links',
    description:
      `The sellers that linked the phone of the token with this person. ${WITH_TOKEN} ` +
      'A national_id and birth_date that no link of the phone has get an empty list. ' +
      `After ${PHONE_LIMITS.searches.maximum} such searches of a phone in a day (UTC) the response is too_many_attempts.`,
    body: claimedPersonSchema,
    responses: { 200: { description: 'The links, the oldest first.', schema: buyerLinksSchema } },
    problems: ['invalid_access_token', 'too_many_attempts'],
    check: { body: {}, expects: 'invalid_access_token' },
    permissions: {
      table: {
        'LINKS#': ['Query'],
        'USERS#': ['BatchGetItem'],
        'SELLER#': ['BatchGetItem'],
      },
      hashes: true,
      signingKey: 'publish',
      tokenIssuer: true,
    },
  },
  'end-link': {
    method: 'DELETE',
    path: '/v1/buyer/links/{id}',
    access: { by: 'buyer', scope: 'buyers:links' },
    summary: 'End a link',
    description:
      `Ends a link of the phone of the token for good. ${WITH_TOKEN} The seller's user is removed, and the seller can link the person again only ` +
      'after the buyer has signed in at the seller once more. 204 also for an unknown id.',
    pathParameters: { schema: linkPathSchema, problem: 'not_found' },
    responses: { 204: { description: 'There is no such link any more.' } },
    problems: ['invalid_access_token'],
    check: { pathParameters: { id: 'lnk_none' }, expects: 'invalid_access_token' },
    permissions: {
      table: {
        'SELLER#': ['BatchGetItem', 'UpdateItem'],
        'USERS#': ['BatchGetItem', 'DeleteItem'],
        'REMOVED#': ['BatchGetItem', 'PutItem'],
        'REMOVALS#': ['BatchGetItem', 'PutItem'],
        'EVENTS#': ['PutItem'],
        'EXTERNAL#': ['DeleteItem'],
        'PERSON#': ['PutItem'],
        'LINKS#': ['Query', 'PutItem', 'DeleteItem'],
        'CODE#': ['BatchGetItem', 'UpdateItem'],
      },
      updates: {
        'SELLER#': COUNTS_OF_SELLER,
        'CODE#': ['pk', 'sk', 'version', 'mac', 'code_expires_at', 'tries', 'provider'],
      },
      hashes: true,
      signingKey: 'publish',
      tokenIssuer: true,
    },
    timeoutSeconds: 20,
    deadlineSeconds: 20,
  },
} as const satisfies Record<string, Row>);
