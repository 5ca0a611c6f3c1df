import { mock } from 'node:test';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { transact } from '#admin/stores/transactions.ts';
import type { Table } from '#shared/table/client.ts';

// Full jitter of 0: no wait takes time.
beforeEach(() => mock.method(Math, 'random', () => 0));
afterEach(() => mock.restoreAll());

const items = [
  { Put: { TableName: 'test', Item: { pk: 'a', sk: 'a' } } },
  { Delete: { TableName: 'test', Key: { pk: 'b', sk: 'b' } } },
];

const canceledFor = (...codes: string[]) =>
  new TransactionCanceledException({
    message: 'canceled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

/** Calls `transact` on a table that returns, or throws, each of these in turn. */
const transactOn = async (...responses: readonly unknown[]) => {
  const sent: TransactWriteCommand['input'][] = [];
  const send = async ({ input }: TransactWriteCommand) => {
    const response = responses[Math.min(sent.length, responses.length - 1)];
    sent.push(input);
    return response instanceof Error ? Promise.reject(response) : response;
  };
  const table = { name: 'test', client: { send } as unknown as Table['client'] };
  return { sent, outcome: await transact(table, items).catch((error: unknown) => error) };
};

describe('transact', () => {
  it('sends the transaction again after a conflict', async () => {
    const conflict = canceledFor('TransactionConflict', 'None');
    const { sent, outcome } = await transactOn(conflict, conflict, {});
    expect(outcome).toBe(true);
    expect(sent).toHaveLength(3);
    expect(sent[2]).toMatchObject({ TransactItems: items });
  });

  it('returns false at once when a condition failed', async () => {
    const { sent, outcome } = await transactOn(canceledFor('None', 'ConditionalCheckFailed'));
    expect(outcome).toBe(false);
    expect(sent).toHaveLength(1);
  });

  it('returns a failed condition at once although another item had a conflict', async () => {
    const { sent } = await transactOn(canceledFor('TransactionConflict', 'ConditionalCheckFailed'));
    expect(sent).toHaveLength(1);
  });

  it('throws service_unavailable after 10 s of conflicts', async () => {
    const conflict = canceledFor('TransactionConflict');
    let now = 0;
    mock.method(performance, 'now', () => {
      now += 1000;
      return now;
    });
    const { sent, outcome } = await transactOn(conflict);
    expect(outcome).toMatchObject({ code: 'service_unavailable', cause: { name: 'WriteConflict' } });
    expect(sent).toHaveLength(11);
  });
});
