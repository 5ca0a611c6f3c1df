/** The part that all frameworks share: they validate the query, and make the recorded calls of GET /v1/users. */
import { handler as makeCalls } from 'recorded-calls';
import { z } from 'zod';

const query = z.strictObject({
  page: z.coerce.number().int().min(1).default(1),
  page_size: z.coerce.number().int().min(1).max(100).default(20),
});

export const listUsers = async (sent) => {
  query.parse(sent ?? {});
  return JSON.parse((await makeCalls()).body);
};
