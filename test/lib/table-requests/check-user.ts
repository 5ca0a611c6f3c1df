import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ call, statusOf, recorder, newBuyer }: FunctionCalls): Promise<void> => {
  const person = await newBuyer();
  const { phone } = await newBuyer();
  const user = { pathParameters: { id: (await call('create-user', { body: person })).body.id } };
  const { display_name, ...claimed } = person;
  recorder.clear();
  expect(await statusOf('check-user', { ...user, body: { ...claimed, phone } })).toBe(200);
};
