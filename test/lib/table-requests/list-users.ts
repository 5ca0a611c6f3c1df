import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf, recorder, newUser, newBuyer }: FunctionCalls): Promise<void> => {
  const removed = await newUser();
  await newUser();
  const person = await newBuyer();
  expect(await statusOf('create-user', { body: { ...person, external_id: 'order:list' } })).toBe(201);
  expect(await statusOf('delete-user', removed)).toBe(204);
  recorder.clear();
  expect(await statusOf('list-users', { query: { page: ['2'], page_size: ['1'] } })).toBe(200);
  expect(await statusOf('list-users', { query: { phone: [person.phone] } })).toBe(200);
  expect(await statusOf('list-users', { query: { external_id: ['order:list'] } })).toBe(200);
};
