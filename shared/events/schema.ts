import * as v from 'valibot';
import { integer, queryInteger, shown, time } from '#shared/fields.ts';
import { REMOVAL_REASONS } from './event.ts';

const MAX_LIMIT = 100;

export const eventQuerySchema = v.strictObject({
  after: v.optional(
    queryInteger(
      'The sequence of the last event that you read; 0: from your first event. Left out: from the oldest event that is kept.',
      0,
    ),
  ),
  limit: v.optional(
    queryInteger(
      `The most events of a page, 1 to ${MAX_LIMIT}. A page can have fewer although has_more is true.`,
      1,
      MAX_LIMIT,
    ),
    String(MAX_LIMIT),
  ),
});

const eventSchema = v.object({
  sequence: integer(1, 'The number of the event among those of your account, from 1, without a gap.', 17),
  type: shown(
    'user.linked, user.updated or user.removed. Ignore a type that you do not know.',
    'user.removed',
  ),
  occurred_at: time('The time of the change, in UTC.', '2026-11-21T08:30:00.000Z'),
  data: v.object({
    user_id: shown('The id of the user.', 'usr_000002bv0aLkW9yRc3mNpd'),
    reason: v.optional(
      shown(
        `Of user.removed: ${REMOVAL_REASONS.map((reason) => `\`${reason}\``).join(', ')}. By you, by the operator at your request, because the buyer was erased for all sellers, or by the buyer.`,
        'erasure',
      ),
    ),
  }),
});

export type ListedEvent = v.InferOutput<typeof eventSchema>;

export const eventPageSchema = v.pipe(
  v.object({
    data: v.pipe(v.array(eventSchema), v.description('The events of this page, in their order.')),
    last_sequence: integer(0, 'The sequence of your newest event; 0 if there never was one.', 17),
    has_more: v.pipe(
      v.boolean(),
      v.description('Whether there are events after this page.'),
      v.examples([false]),
    ),
  }),
  v.title('EventPage'),
);
