import { type Row, routeRows } from '#shared/route.ts';
import { KEEP_EVENTS_DAYS } from './event.ts';
import { eventPageSchema, eventQuerySchema } from './schema.ts';

export const eventRoutes = routeRows('Events', {
  'list-events': {
    method: 'GET',
    path: '/v1/events',
    access: { by: 'key', scope: 'events:read' },
    summary: 'Read what changed',
    description:
      'The changes of your users, oldest first: user.linked, user.updated and user.removed. An event holds ids only: read the user for ' +
      'the rest. The first page is the one without `after`; each further page is the one after the last `sequence` that you read. ' +
      `Events are kept ${KEEP_EVENTS_DAYS} days. ` +
      'If the event after `after` is no longer kept, or `after` is higher than last_sequence, the response is events_expired: ' +
      'call without `after`, read all users, then go on after its last_sequence.',
    query: eventQuerySchema,
    responses: { 200: { description: 'One page of events.', schema: eventPageSchema } },
    problems: ['events_expired'],
    check: { expects: 200 },
    permissions: { table: { 'SELLER#': ['GetItem'], 'EVENTS#': ['Query'] } },
  },
} as const satisfies Record<string, Row>);
