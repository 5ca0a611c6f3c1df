import { newPerson } from '#test/generated-people.ts';
import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf }: FunctionCalls): Promise<void> => {
  expect(await statusOf('list-users')).toBe(200);
  expect(await statusOf('list-users', { query: { phone: [newPerson().phone] } })).toBe(200);
};
