import { newPerson } from '#test/generated-people.ts';
import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf, simulators }: FunctionCalls): Promise<void> => {
  const { phone } = newPerson();
  expect(await statusOf('send-otp', { body: { phone } })).toBe(202);
  expect(await statusOf('send-otp', { body: { phone } })).toBe(429);
  await simulators.setFault('kavenegar', 'balance');
  expect(await statusOf('send-otp', { body: { phone: newPerson().phone } })).toBe(503);
  await simulators.setFault('kavenegar', undefined);
};
