import { newPerson } from '#test/generated-people.ts';
import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf, recorder, signIn }: FunctionCalls): Promise<void> => {
  const person = newPerson();
  const { national_id, birth_date } = person;
  const token = await signIn(person.phone);
  expect(await statusOf('create-user', { body: person })).toBe(201);
  recorder.clear();
  expect(await statusOf('find-links', { body: { national_id, birth_date }, ...token })).toBe(200);
  const another = { national_id: newPerson().national_id, birth_date };
  expect(await statusOf('find-links', { body: another, ...token })).toBe(200);
};
