import { newPerson } from '#test/generated-people.ts';
import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf, recorder, newBuyer }: FunctionCalls): Promise<void> => {
  const person = await newBuyer();
  const another = { body: await newBuyer() };
  recorder.clear();
  expect(await statusOf('create-user', { body: newPerson() })).toBe(404);
  expect(await statusOf('create-user', { body: { ...person, external_id: 'order:1' } })).toBe(201);
  expect(await statusOf('create-user', { body: person })).toBe(200);
  expect(await statusOf('create-user', { body: { ...person, birth_date: '1359/1/1' } })).toBe(409);
  // Of two requests at once, one waits for the check of the other. Then it reads the hourly limits again.
  const statuses = await Promise.all([statusOf('create-user', another), statusOf('create-user', another)]);
  expect(statuses.sort()).toEqual([200, 201]);
};
