import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { buyerRecordStore } from '#admin/stores/buyer-record-store.ts';
import { type NewBuyer, registerMany } from '#admin/stores/register-buyers.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import type { Table } from '#shared/table/client.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
beforeAll(async () => {
  table = await startEmbeddedTable();
});
afterAll(() => table.stop());

const BEFORE = '2026-11-20T10:00:00.000Z';
const NOW = '2026-11-21T10:00:00.000Z';

let people = 0;
const newBuyers = (count: number): NewBuyer[] =>
  Array.from({ length: count }, () => {
    people += 1;
    return { phoneHashes: [`hash${people}`], buyerId: `byr_${people}` };
  });

const registeredAt = async ({ phoneHashes }: NewBuyer) =>
  (await buyerRecordStore(table).find(phoneHashes))?.registered_at;

/** A table that leaves part of each write batch undone, as a throttled one does. */
const throttled = (): Table & { readonly writes: () => number } => {
  let writes = 0;
  const client = {
    async send(command: Parameters<DynamoDBDocumentClient['send']>[0]) {
      const requests = command instanceof BatchWriteCommand && command.input.RequestItems?.[table.name];
      if (!requests) return table.client.send(command);
      writes += 1;
      const done = requests.slice(0, Math.ceil(requests.length / 2));
      await table.client.send(new BatchWriteCommand({ RequestItems: { [table.name]: done } }));
      const rest = requests.slice(done.length);
      return { UnprocessedItems: rest.length === 0 ? {} : { [table.name]: rest } };
    },
  };
  return { name: table.name, client: client as unknown as DynamoDBDocumentClient, writes: () => writes };
};

it('registers any number of buyers, each once', async () => {
  const buyers = newBuyers(321);
  expect(await registerMany(table, buyers, NOW)).toBe(321);
  expect(await Promise.all(buyers.map(registeredAt))).toEqual(buyers.map(() => NOW));
  expect(await registerMany(table, [], NOW)).toBe(0);
});

it('leaves who is registered as they are, and says how many were new', async () => {
  const [first, second, third] = newBuyers(3) as [NewBuyer, NewBuyer, NewBuyer];
  await buyerStore(table).register(second.phoneHashes[0], second.buyerId, BEFORE);
  expect(await registerMany(table, [first, second, third], NOW)).toBe(2);
  expect(await Promise.all([first, second, third].map(registeredAt))).toEqual([NOW, BEFORE, NOW]);
});

it('finds a buyer who stands under the hash of an older secret', async () => {
  const [old] = newBuyers(1) as [NewBuyer];
  await registerMany(table, [old], BEFORE);
  const rotated: NewBuyer = {
    phoneHashes: ['hash under the new secret', old.phoneHashes[0]],
    buyerId: old.buyerId,
  };
  expect(await registerMany(table, [rotated], NOW)).toBe(0);
  expect(await buyerStore(table).isRegistered(['hash under the new secret'])).toBe(false);
});

it('sends again what a throttled table left undone, until all is written', async () => {
  const slow = throttled();
  const buyers = newBuyers(25);
  expect(await registerMany(slow, buyers, NOW)).toBe(25);
  expect(slow.writes()).toBe(5);
  expect(await Promise.all(buyers.map(registeredAt))).toEqual(buyers.map(() => NOW));
});
