import { readFile } from 'node:fs/promises';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { removeUser } from '#admin/operations/users.ts';
import { linkBuyer } from '#test/admin/operations/linked-buyer.ts';
import { useAdministration } from '#test/admin/operations/use-administration.ts';

const newAdministration = useAdministration();

/** The value of an option of the scan in the runbook. */
const optionOf = (text: string, name: string): string =>
  new RegExp(`aws dynamodb scan [\\s\\S]*?--${name} '([^']+)'`).exec(text)?.[1] ?? '';

it('the scan of docs/operators/operations.md finds the audit and the removals since a time, and nothing else', async () => {
  const text = await readFile(new URL('../../docs/operators/operations.md', import.meta.url), 'utf8');
  const { admin, clock, issued, table } = await newAdministration();
  const { seller } = await issued();
  const { id } = await linkBuyer(table, seller.seller_id, 'a phone');
  clock.advance(3600);
  const since = admin.now();
  await removeUser(admin, { sellerId: seller.seller_id, userId: id, reason: 'operator' });
  const values = JSON.parse(optionOf(text, 'expression-attribute-values'));
  const { Items = [] } = await table.client.send(
    new ScanCommand({
      TableName: table.name,
      FilterExpression: optionOf(text, 'filter-expression'),
      ExpressionAttributeNames: JSON.parse(optionOf(text, 'expression-attribute-names')),
      ExpressionAttributeValues: unmarshall({ ...values, ':t': { S: since.slice(0, 16) } }),
    }),
  );
  expect(Items.map(({ action, type }) => action ?? type).sort()).toEqual(['user.removed', 'user.removed']);
  expect(Items.map(({ pk }) => String(pk).split('#')[0]).sort()).toEqual(['AUDIT', 'EVENTS']);
});
