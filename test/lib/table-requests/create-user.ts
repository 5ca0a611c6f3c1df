import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { tableFromEnv } from '#shared/table/client.ts';
import { endedLinkKey, personKey } from '#shared/table/keys.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { newPerson } from '#test/generated-people.ts';
import type { FunctionCalls } from '../function-calls.ts';

/** Stores that the buyer of a person ended the link with sel_test long ago, under the older key of the hash secret. */
const refuse = async ({ national_id, phone }: ReturnType<typeof newPerson>): Promise<void> => {
  const hashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: 'o'.repeat(40) })));
  const { current: personHash } = await hashes.person('sel_test', national_id);
  const { current: phone_hash } = await hashes.phone(phone);
  const { client, name: TableName } = tableFromEnv();
  for (const key of [personKey('sel_test', personHash), endedLinkKey(phone_hash, 'sel_test', personHash)]) {
    await client.send(new PutCommand({ TableName, Item: { ...key, phone_hash, refused_at: 1 } }));
  }
};

/** Uses every grant of the row. */
export default async ({ statusOf, recorder, newBuyer, signIn }: FunctionCalls): Promise<void> => {
  const refused = newPerson();
  const token = await signIn(refused.phone);
  await refuse(refused);
  const person = await newBuyer();
  recorder.clear();
  expect(await statusOf('create-user', { body: newPerson() })).toBe(404);
  expect(await statusOf('create-user', { body: { ...person, external_id: 'order:1' } })).toBe(201);
  expect(await statusOf('create-user', { body: person })).toBe(200);
  expect(await statusOf('create-user', { body: { ...person, birth_date: '1359/1/1' } })).toBe(409);
  expect(await statusOf('create-user', { body: refused })).toBe(403);
  expect(await statusOf('create-user', { body: refused, ...token })).toBe(201);
};
