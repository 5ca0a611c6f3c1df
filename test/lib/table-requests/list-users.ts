import { newPerson } from '#test/generated-people.ts';
import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf, recorder, newUser }: FunctionCalls): Promise<void> => {
  const removed = await newUser();
  await newUser();
  await newUser();
  expect(await statusOf('delete-user', removed)).toBe(204);
  recorder.clear();
  expect(await statusOf('list-users', { query: { page: ['2'], page_size: ['1'] } })).toBe(200);
  expect(await statusOf('list-users', { query: { phone: [newPerson().phone] } })).toBe(200);
  expect(await statusOf('list-users', { query: { external_id: ['order:1'] } })).toBe(200);
};
