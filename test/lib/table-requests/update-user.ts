import { randomUUID } from 'node:crypto';
import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf, recorder, newUser }: FunctionCalls): Promise<void> => {
  const user = await newUser();
  recorder.clear();
  expect(await statusOf('update-user', { ...user, body: { external_id: randomUUID() } })).toBe(200);
};
