import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { sellerKey } from '#shared/table/keys.ts';
import { itForAll } from '#test/for-all.ts';
import { noResponse } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { EXPIRED, numbers, OLDEST_KEPT, times, useEvents, YOUNG } from './list-events-under-test.ts';
import { linkNewUser } from './users-on.ts';

const { table, newSeller } = useEvents();

describe('200', () => {
  it('tells the number, the kind, the time and the user of each change, and why a user was removed', async () => {
    const { sellerId, read } = await newSeller();
    const { id } = await linkNewUser(table, sellerId);
    await userStore(table).removeUser(sellerId, id, {
      removedAt: '2026-11-21T07:30:00.000Z',
      reason: 'seller',
    });
    const { json, headers } = await read();
    expect(json).toEqual({
      data: [
        {
          sequence: 1,
          type: 'user.linked',
          occurred_at: '2026-11-21T07:00:00.000Z',
          data: { user_id: id },
        },
        {
          sequence: 2,
          type: 'user.removed',
          occurred_at: '2026-11-21T07:30:00.000Z',
          data: { user_id: id, reason: 'seller' },
        },
      ],
      last_sequence: 2,
      has_more: false,
    });
    expect(headers).toMatchObject({ RateLimit: expect.any(String), 'Cache-Control': 'no-store' });
  });

  it('is empty for a seller without events, with and without a number', async () => {
    const { page } = await newSeller();
    const empty = { data: [], last_sequence: 0, has_more: false };
    expect([await page(), await page({ after: '0' })]).toEqual([empty, empty]);
  });

  it('is empty, with number 0 as the last one, for a seller whose record a restore has not brought back', async () => {
    const { sellerId, page } = await newSeller();
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: sellerKey(sellerId) }));
    expect(await page()).toEqual({ data: [], last_sequence: 0, has_more: false });
  });

  it('holds 100 events unless a limit says fewer, and says whether more follow', async () => {
    const { page } = await newSeller(times(103));
    const last_sequence = 103;
    expect(await page()).toEqual({ data: numbers(1, 100), last_sequence, has_more: true });
    expect(await page({ after: '100' })).toEqual({ data: [101, 102, 103], last_sequence, has_more: false });
    const two = await page({ after: '100', limit: '2' });
    expect(two).toEqual({ data: [101, 102], last_sequence, has_more: true });
    const three = await page({ after: '100', limit: '3' });
    expect(three).toEqual({ data: [101, 102, 103], last_sequence, has_more: false });
  });

  it.each([
    ['kept', [YOUNG, YOUNG]],
    ['expired by the clock', [EXPIRED, EXPIRED]],
    ['deleted', [undefined, undefined]],
  ])('is empty after the last event if that one is %s', async (_case, events) => {
    const { page } = await newSeller(events);
    expect(await page({ after: '2' })).toEqual({ data: [], last_sequence: 2, has_more: false });
  });
});

describe('410', () => {
  it.each([
    ['the next event is deleted', [undefined, YOUNG], '0'],
    ['the next event has expired by the clock and is not deleted', [EXPIRED, YOUNG], '0'],
    ['the next event has expired and is not the first one', [EXPIRED, EXPIRED, YOUNG], '1'],
    ['every event is deleted', [undefined, undefined], '1'],
    ['the number is higher than that of the last event', [YOUNG], '2'],
    ['the number is higher than any', [YOUNG], String(Number.MAX_SAFE_INTEGER)],
    ['the seller has no event', [], '1'],
  ])('is events_expired if %s', async (_case, events, after) => {
    const { read } = await newSeller(events);
    const { status, json } = await read({ after });
    expect([status, json.code]).toEqual([410, 'events_expired']);
  });

  it('begins exactly 30 days after the change', async () => {
    const { read } = await newSeller([EXPIRED, OLDEST_KEPT]);
    expect((await read({ after: '0' })).status).toBe(410);
    expect((await read({ after: '1' })).status).toBe(200);
  });
});

describe('422', () => {
  const badAfter = { code: 'invalid', detail: 'Must be an integer from 0 to 9007199254740991.' };
  const badLimit = { code: 'invalid', detail: 'Must be an integer from 1 to 100.' };

  itForAll([
    ['after', '-1', badAfter],
    ['after', '1.5', badAfter],
    ['after', '01', badAfter],
    ['after', '', badAfter],
    ['after', 'usr_1', badAfter],
    ['after', '9007199254740992', badAfter],
    ['limit', '0', badLimit],
    ['limit', '101', badLimit],
    ['page', '1', { code: 'unknown', detail: 'Is not a known parameter: this operation has after, limit.' }],
  ])('names a wrong parameter', async (parameter, value, fault) => {
    const { read } = await newSeller();
    const { status, json } = await read({ [parameter]: value });
    expect([status, json.errors]).toEqual([422, [{ parameter, ...fault }]]);
  });
});

describe('503', () => {
  it.each(['GetCommand', 'QueryCommand'])(
    'is service_unavailable if no response to %s comes',
    async (command) => {
      const { read } = await newSeller();
      const broken = interceptedTable(table, ({ name }, send) =>
        name === command ? Promise.reject(noResponse) : send(),
      );
      const { status, json } = await read({ after: '0' }, broken);
      expect([status, json.code]).toEqual([503, 'service_unavailable']);
    },
  );
});
