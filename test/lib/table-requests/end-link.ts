import { newPerson } from '#test/generated-people.ts';
import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ call, statusOf, recorder, signIn }: FunctionCalls): Promise<void> => {
  const person = newPerson();
  const { national_id, birth_date } = person;
  const token = await signIn(person.phone);
  expect(await statusOf('create-user', { body: { ...person, external_id: 'order:ended' } })).toBe(201);
  const { body } = await call('find-links', { body: { national_id, birth_date }, ...token });
  expect(await statusOf('send-otp', { body: { phone: person.phone } })).toBe(202);
  recorder.clear();
  expect(await statusOf('end-link', { pathParameters: { id: body.data[0].id }, ...token })).toBe(204);
};
