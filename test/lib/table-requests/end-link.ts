import { codeSends } from '#shared/one-time-codes/store.ts';
import { hashesFromEnv } from '#shared/secrets/keyed-hashes.ts';
import { tableFromEnv } from '#shared/table/client.ts';
import { newPerson } from '#test/generated-people.ts';
import type { FunctionCalls } from '../function-calls.ts';

/** Stores a code of sel_test that the buyer of a phone has not redeemed. */
const sendCode = async (phone: string): Promise<void> => {
  const codes = codeSends(tableFromEnv());
  const owner = { phoneHash: (await hashesFromEnv().phone(phone)).current, audience: 'sel_test' };
  const { record } = await codes.read(owner);
  const code = { mac: 'salt.mac', provider: 'kavenegar', now: Math.floor(Date.now() / 1000) };
  expect(await codes.recordSend(owner, record, code)).toBe(true);
};

/** Uses every grant of the row. */
export default async ({ call, statusOf, recorder, signIn }: FunctionCalls): Promise<void> => {
  const person = newPerson();
  const { national_id, birth_date } = person;
  const token = await signIn(person.phone);
  expect(await statusOf('create-user', { body: { ...person, external_id: 'order:ended' } })).toBe(201);
  const { body } = await call('find-links', { body: { national_id, birth_date }, ...token });
  await sendCode(person.phone);
  recorder.clear();
  expect(await statusOf('end-link', { pathParameters: { id: body.data[0].id }, ...token })).toBe(204);
};
