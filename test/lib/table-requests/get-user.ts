import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf, recorder, newUser }: FunctionCalls): Promise<void> => {
  const user = await newUser();
  recorder.clear();
  expect(await statusOf('get-user', user)).toBe(200);
};
