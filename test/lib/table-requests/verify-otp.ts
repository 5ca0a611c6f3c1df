import { newPerson } from '#test/generated-people.ts';
import { APP, type FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf, recorder, sendCode }: FunctionCalls): Promise<void> => {
  const { phone } = newPerson();
  const code = await sendCode(phone);
  recorder.clear();
  expect(await statusOf('verify-otp', { body: { phone, code: '000000' }, ...APP })).toBe(422);
  expect(await statusOf('verify-otp', { body: { phone, code }, ...APP })).toBe(200);
};
