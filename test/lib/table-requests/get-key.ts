import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf, recorder, newKey }: FunctionCalls): Promise<void> => {
  await newKey();
  recorder.clear();
  expect(await statusOf('get-key')).toBe(200);
};
