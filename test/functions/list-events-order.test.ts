/** Where a page of events begins and ends while DynamoDB deletes expired events late and changes are written. */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { eventKey } from '#shared/table/keys.ts';
import { countedTable } from '#test/table/counted-table.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import {
  EXPIRED,
  MINUTE_OLD,
  numbers,
  OLDEST_KEPT,
  type Query,
  times,
  useEvents,
  YOUNG,
} from './list-events-under-test.ts';

const { table, newSeller } = useEvents();

const EITHER_QUERY: readonly [string, Query][] = [
  ['without a number', {}],
  ['after a number', { after: '0' }],
];

describe('a page without a number', () => {
  it('begins at the oldest event that is kept by the clock', async () => {
    const { page } = await newSeller([undefined, EXPIRED, EXPIRED, OLDEST_KEPT, YOUNG]);
    expect(await page()).toEqual({ data: [4, 5], last_sequence: 5, has_more: false });
    expect(await page({ limit: '1' })).toEqual({ data: [4], last_sequence: 5, has_more: true });
  });

  it('is empty if every event has expired, deleted or not', async () => {
    const { page } = await newSeller([undefined, EXPIRED, undefined, EXPIRED, undefined]);
    const empty = { data: [], last_sequence: 5, has_more: false };
    expect([await page(), await page({ limit: '1' })]).toEqual([empty, empty]);
  });

  it.each([1, 3, 8, 150])('begins behind %i expired events, of which some are deleted', async (expired) => {
    const old = numbers(1, expired).map((sequence) => (sequence % 3 === 0 ? undefined : EXPIRED));
    const { page } = await newSeller([...old, ...times(5)]);
    const last_sequence = expired + 5;
    expect(await page({ limit: '1' })).toEqual({ data: [expired + 1], last_sequence, has_more: true });
    const kept = numbers(expired + 1, last_sequence);
    expect(await page()).toEqual({ data: kept, last_sequence, has_more: false });
  });

  it('costs at most four queries, however many events have expired', async () => {
    const { page } = await newSeller([...times(150, EXPIRED), YOUNG]);
    const counted = countedTable(table);
    expect((await page({ limit: '1' }, counted.table)).data).toEqual([151]);
    expect(counted.rounds.flat().filter((call) => call === 'Query')).toHaveLength(4);
  });
});

describe('a page while changes are written', () => {
  it('has the event that was written after the events were read and before the seller was read', async () => {
    const { page, putEvent, countEvents } = await newSeller();
    const written = Promise.withResolvers<void>();
    const on = interceptedTable(table, async ({ name }, send) => {
      if (name === 'GetCommand') await written.promise;
      const output = await send();
      if (name === 'QueryCommand') {
        await Promise.all([putEvent(1, YOUNG), countEvents(1)]);
        written.resolve();
      }
      return output;
    });
    expect(await page({ after: '0' }, on)).toEqual({ data: [1], last_sequence: 1, has_more: false });
  });

  it.each(EITHER_QUERY)(
    'names its last event if that one is newer than the seller that was read, %s',
    async (_case, query) => {
      const { page, countEvents } = await newSeller([YOUNG]);
      await countEvents(0);
      expect(await page(query)).toEqual({ data: [1], last_sequence: 1, has_more: false });
    },
  );

  it.each(EITHER_QUERY)('ends before an event that the Query has missed, %s', async (_case, query) => {
    const { page, sellerId } = await newSeller(times(4));
    const Key = eventKey(sellerId, 3);
    await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
    expect(await page(query)).toEqual({ data: [1, 2], last_sequence: 4, has_more: true });
  });

  it.each([
    ['behind an expired event', [EXPIRED, undefined, YOUNG], '9'],
    ['before an event of a minute ago', [EXPIRED, undefined, MINUTE_OLD], '9'],
    ['behind a page of expired events', [EXPIRED, EXPIRED, undefined, YOUNG], '2'],
    ['and it is the only one', [EXPIRED, EXPIRED, undefined], '9'],
  ])('begins with an event that the Query has missed, %s', async (_case, events, limit) => {
    const { page, putEvent } = await newSeller(events);
    const missed = events.indexOf(undefined) + 1;
    let queries = 0;
    const on = interceptedTable(table, async ({ name, input }, send) => {
      const output = await send();
      queries += Number(name === 'QueryCommand');
      const isLast = limit === '9' || input.FilterExpression !== undefined;
      if (name === 'QueryCommand' && isLast) await putEvent(missed, YOUNG);
      return output;
    });
    expect((await page({ limit }, on)).data).toEqual(numbers(missed, events.length));
    expect(queries).toBeGreaterThan(1);
  });

  it('is read once if its first event is older than any request that still runs', async () => {
    const { page } = await newSeller([undefined, OLDEST_KEPT, YOUNG]);
    const counted = countedTable(table);
    expect((await page({}, counted.table)).data).toEqual([2, 3]);
    expect(counted.rounds.flat().filter((call) => call === 'Query')).toHaveLength(1);
  });

  it('is read again if the Query has missed its first event', async () => {
    const { page, putEvent } = await newSeller([undefined, YOUNG]);
    const on = interceptedTable(table, async ({ name }, send) => {
      const output = await send();
      if (name === 'QueryCommand') await putEvent(1, YOUNG);
      return output;
    });
    expect(await page({ after: '0' }, on)).toEqual({ data: [1, 2], last_sequence: 2, has_more: false });
  });
});
