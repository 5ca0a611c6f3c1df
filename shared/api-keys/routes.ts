import { KEPT_DAYS } from '#shared/rate-limits/key-limits.ts';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { type Row, routeRows } from '#shared/route.ts';
import {
  GRACE_HOURS,
  keySchema,
  keyUsageQuerySchema,
  keyUsageSchema,
  newSecretSchema,
  rotationSchema,
} from './schema.ts';

export const apiKeyRoutes = routeRows('Key', {
  'get-key': {
    method: 'GET',
    path: '/v1/key',
    access: { by: 'key' },
    summary: 'Read your key',
    description:
      'What the key of this request may do: its plan, its scopes, its valid secrets, and the state of each of its limits now. ' +
      `The first limit has the name of the plan (${Object.keys(PLANS).join(', ')}) and counts requests per clock minute.`,
    responses: { 200: { description: 'The key.', schema: keySchema } },
    limitsRead: [
      'sms-per-hour',
      'failed-checks-per-hour',
      'refused-links-per-hour',
      'failed-verifies-per-hour',
    ],
    check: { expects: 'invalid_api_key' },
    permissions: {
      table: { 'SELLER#': ['BatchGetItem'], 'LIMIT#': ['BatchGetItem'] },
      identityProviders: true,
    },
  },
  'get-key-usage': {
    method: 'GET',
    path: '/v1/key/usage',
    access: { by: 'key' },
    summary: 'Read the use of your key',
    description:
      'The counts of the key per hour, and its paid checks per day, of hours and days in which anything was counted. ' +
      `They are kept ${KEPT_DAYS} days. The counts of the last second may be missing.`,
    query: keyUsageQuerySchema,
    responses: { 200: { description: 'The use of the key.', schema: keyUsageSchema } },
    check: { expects: 200 },
    permissions: { table: { 'LIMIT#': ['Query'] } },
  },
  'rotate-key': {
    method: 'POST',
    path: '/v1/key/secrets',
    // The secret is shown only in the response: a repeated request is refused, because the first one may have made it.
    repeatable: false,
    access: { by: 'key', scope: 'key:rotate' },
    summary: 'Get a new secret for your key',
    description:
      'Returns a new secret with the scopes, the plan, the limits and the counts of the key. It works at once. ' +
      `The old secret ends after grace_hours (${GRACE_HOURS.minimum} to ${GRACE_HOURS.maximum}, by default ${GRACE_HOURS.default}), or with the key if that is earlier. ` +
      'Until then another rotation gets too_many_secrets, also when the response was lost: wait for the end of the old secret, or ask the ' +
      'operator for a new one.',
    body: rotationSchema,
    responses: { 201: { description: 'The new secret.', schema: newSecretSchema } },
    problems: ['too_many_secrets'],
    check: { body: { grace_hours: 0 }, expects: 'validation_failed' },
    permissions: {
      table: {
        'SELLER#': ['GetItem', 'UpdateItem', 'ConditionCheckItem'],
        'SECRET#': ['UpdateItem', 'DeleteItem'],
        'AUDIT#': ['PutItem'],
      },
      keyPrefix: true,
    },
  },
} as const satisfies Record<string, Row>);
