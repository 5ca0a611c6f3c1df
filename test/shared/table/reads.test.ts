import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { runInRequest } from '#shared/request-context.ts';
import {
  batchGet,
  getItem,
  itemOf,
  queryAll,
  queryPages,
  type Range,
  UnprocessedKeysError,
} from '#shared/table/reads.ts';
import { endless, requestUntil } from '#test/fakes/request.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
const keys = ['a', 'b', 'c'].map((name) => ({ pk: name, sk: name }));

beforeAll(async () => {
  for (const key of keys.slice(0, 2)) {
    await table.client.send(new PutCommand({ TableName: table.name, Item: { ...key, value: key.pk } }));
  }
});

describe('getItem', () => {
  it('returns the item of a key, or undefined', async () => {
    expect(await getItem(table, { pk: 'a', sk: 'a' })).toEqual({ pk: 'a', sk: 'a', value: 'a' });
    expect(await getItem(table, { pk: 'c', sk: 'c' })).toBeUndefined();
  });

  it('reads only the attributes that were asked for', async () => {
    expect(await getItem(table, { pk: 'a', sk: 'a' }, 'pk, sk')).toEqual({ pk: 'a', sk: 'a' });
  });
});

describe('queries', () => {
  beforeAll(async () => {
    for (const sk of ['A#1', 'B#1', 'B#2', 'B#3', 'C#1']) {
      await table.client.send(new PutCommand({ TableName: table.name, Item: { pk: 'range', sk } }));
    }
  });

  const sortKeys = async (range: Omit<Range, 'pk'>) =>
    (await queryAll(table, { pk: 'range', ...range })).map(({ sk }) => sk);

  it('return a whole partition, a prefix or a range of sort keys, in their order', async () => {
    expect(await sortKeys({})).toEqual(['A#1', 'B#1', 'B#2', 'B#3', 'C#1']);
    expect(await sortKeys({ prefix: 'B#' })).toEqual(['B#1', 'B#2', 'B#3']);
    expect(await sortKeys({ between: ['B#2', 'C#1'] })).toEqual(['B#2', 'B#3', 'C#1']);
  });

  it('return the newest first where that is asked for', async () => {
    expect(await sortKeys({ prefix: 'B#', newestFirst: true })).toEqual(['B#3', 'B#2', 'B#1']);
  });

  it('read all pages, and no further page after the caller stops', async () => {
    const pages: number[] = [];
    const inPagesOfTwo = interceptedTable(table, async ({ input }) => {
      const page = await table.client.send(new QueryCommand({ ...input, Limit: 2 } as never));
      pages.push(page.Items?.length ?? 0);
      return page;
    });
    expect(await queryAll(inPagesOfTwo, { pk: 'range' })).toHaveLength(5);
    expect(pages).toEqual([2, 2, 1]);
    const first = await queryPages(inPagesOfTwo, { pk: 'range' }).next();
    expect(first.value).toEqual([
      { pk: 'range', sk: 'A#1' },
      { pk: 'range', sk: 'B#1' },
    ]);
    expect(pages).toEqual([2, 2, 1, 2]);
  });
});

/** A client that leaves all but the first key of a batch unread, as a throttled table does. */
const throttled = (batches: number) => {
  let left = batches;
  const asked: number[] = [];
  const send = async (command: { input: { RequestItems: Record<string, { Keys: object[] }> } }) => {
    const open = command.input.RequestItems[table.name]?.Keys ?? [];
    asked.push(open.length);
    left -= 1;
    if (left < 0) return { Responses: { [table.name]: open }, UnprocessedKeys: {} };
    const [first, ...unread] = open;
    return { Responses: { [table.name]: [first] }, UnprocessedKeys: { [table.name]: { Keys: unread } } };
  };
  return { asked, table: { name: table.name, client: { send } as never } };
};

describe('batchGet', () => {
  it('returns the items that exist and leaves out the others', async () => {
    const items = await batchGet(table, keys);
    expect(keys.map((key) => itemOf(items, key)?.value)).toEqual(['a', 'b', undefined]);
  });

  it('reads more keys than one request takes', async () => {
    const absent = Array.from({ length: 100 }, (_, index) => ({ pk: `absent ${index}`, sk: 'a' }));
    const items = await batchGet(table, [
      keys[0] as (typeof keys)[0],
      ...absent,
      keys[1] as (typeof keys)[0],
    ]);
    expect(items.map(({ value }) => value).sort()).toEqual(['a', 'b']);
  });

  it('reads a key that is given twice once', async () => {
    const { table: recorded, asked } = throttled(0);
    await batchGet(recorded, [...keys, ...keys]);
    expect(asked).toEqual([3]);
  });

  it('makes no call for no keys', async () => {
    expect(await batchGet({ name: 'none', client: undefined as never }, [])).toEqual([]);
  });

  it('reads keys that a throttled table left unread again', async () => {
    const { table: busy, asked } = throttled(2);
    expect(await batchGet(busy, keys)).toHaveLength(3);
    expect(asked).toEqual([3, 2, 1]);
  });

  it('throws instead of taking keys that stay unread for absent', async () => {
    const client = {
      send: async () => ({ UnprocessedKeys: { [table.name]: { Keys: keys } } }),
    } as never;
    await expect(batchGet({ name: table.name, client }, keys)).rejects.toBeInstanceOf(UnprocessedKeysError);
  });

  it('waits up to 40, 80, 160 and 320 ms between its attempts', async () => {
    const { random } = Math;
    Math.random = () => 1e-6;
    /** Whether the wait after so many attempts is at most so long, where none before it is too long. */
    const isWithin = async (attempt: number, ms: number): Promise<boolean> => {
      let asked = 0;
      const send = async () => {
        asked += 1;
        return { UnprocessedKeys: { [table.name]: { Keys: keys } } };
      };
      const left = [...Array.from({ length: attempt - 1 }, () => 1), ms * Math.random(), -1];
      const until = requestUntil(endless({ leftMs: () => left.shift() ?? -1 }));
      const busy = { name: table.name, client: { send } as never };
      await runInRequest(until, () => batchGet(busy, keys)).catch(() => undefined);
      return asked > attempt;
    };
    try {
      const bounds = [40, 80, 160, 320].map(async (ms, index) => [
        await isWithin(index + 1, ms * 0.99),
        await isWithin(index + 1, ms * 1.01),
      ]);
      expect(await Promise.all(bounds)).toEqual(Array.from({ length: 4 }, () => [false, true]));
    } finally {
      Math.random = random;
    }
  });

  it('throws in place of a wait that would end after the deadline of the request', async () => {
    const { table: busy, asked } = throttled(2);
    const atItsDeadline = requestUntil(endless({ leftMs: () => 0 }));
    const reading = runInRequest(atItsDeadline, () => batchGet(busy, keys));
    await expect(reading).rejects.toBeInstanceOf(UnprocessedKeysError);
    expect(asked).toEqual([3]);
  });
});
