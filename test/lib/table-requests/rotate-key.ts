import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. The rotation deletes the item of the secret that has ended. */
export default async ({ statusOf, recorder, newKey }: FunctionCalls): Promise<void> => {
  await newKey();
  recorder.clear();
  expect(await statusOf('rotate-key', { body: {} })).toBe(201);
};
