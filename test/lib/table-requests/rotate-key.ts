import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. The second rotation replaces the secret of the first one, which was never used. */
export default async ({ statusOf, recorder, newKey }: FunctionCalls): Promise<void> => {
  await newKey();
  recorder.clear();
  expect(await statusOf('rotate-key', { body: {} })).toBe(201);
  expect(await statusOf('rotate-key', { body: {} })).toBe(201);
};
