import fc from 'fast-check';
import { reconcile } from '#admin/operations/reconcile.ts';
import { restoreReport } from '#admin/operations/restore/report.ts';
import { restore } from '#admin/operations/restore/restore.ts';
import { putAll } from '#admin/stores/batches.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { beginHistory, operations } from '../random-administration.ts';
import { useAdministration } from '../use-administration.ts';
import { type Damage, damage, itemsIn, keyText } from './damage.ts';
import { faultsIn, validSecretsIn } from './invariants.ts';

const newAdministration = useAdministration();

const usersIn = (items: readonly StoredItem[]): StoredItem[] =>
  items.filter(({ pk }) => String(pk).startsWith('USERS#'));

/** What a copy may change of what exists: the number of the last event of a seller. */
const withoutCount = ({ event_count: _, ...item }: StoredItem): StoredItem => item;

/** Which items are damaged. The list is used again and again, so its length should divide no number of items. */
const damages = (...kinds: readonly Damage[]) =>
  fc.array(fc.constantFrom<Damage>('none', ...kinds), { minLength: 11, maxLength: 29 });

const LOSSES = damages('lost');

type History = Parameters<Awaited<ReturnType<typeof beginHistory>>>[0];

/** Makes a history with a restore point in it, damages it, and copies. Returns the items of each moment. */
const restoredHistory = async ([before, since]: readonly [History, History], list: readonly Damage[]) => {
  const deployment = await newAdministration();
  const { admin, table, clock } = deployment;
  // The histories share one API Gateway.
  for (const { id } of await deployment.gatewayKeys()) await deployment.gateway.deleteKey(id);
  const run = await beginHistory(deployment);
  await run(before);
  const snapshot = await itemsIn(table);
  await run(since);
  const now = await itemsIn(table);
  const source = await deployment.newTable();
  await putAll(source, snapshot);
  await damage(table, { snapshot, now, list });
  const damaged = await itemsIn(table);
  const copy = async () => {
    const lines: string[] = [];
    const report = restoreReport({ write: (line) => lines.push(line) });
    await restore(admin, { source, isCopy: true, report });
    return lines;
  };
  const lines = await copy();
  return { admin, clock, copy, snapshot, now, damaged, lines, restored: await itemsIn(table) };
};

/** Whether a line of the report is about something that the copy has done. */
const isDone = (line: string): boolean => /,copied$/.test(line.trim());

/**
 * The items without what differs after a loss and a copy: numbers of events, keys that wait, their secrets, which come back with a
 * confirmation, and keys that were revoked, which do not come back.
 */
const comparable = (items: readonly StoredItem[], now: readonly StoredItem[]): StoredItem[] => {
  const revoked = new Set(now.filter(({ status }) => status === 'revoked').map(({ key_id }) => key_id));
  return items
    .filter(({ pk }) => !/^(?:EVENTS|AUDIT|SECRET)#/.test(String(pk)))
    .filter(({ pk, key_id }) => !revoked.has(key_id ?? String(pk).slice('KEYID#'.length)))
    .map(({ event_count: _, last_event: __, restored_at: ___, status, ...item }) => {
      return item.key_id === undefined ? { ...item, status } : item;
    });
};

describe('restore', () => {
  it('brings back everything of any history that was lost if nothing happened since', async () => {
    await fc.assert(
      fc.asyncProperty(operations(50, 16), LOSSES, async (before, list) => {
        const { now, restored } = await restoredHistory([before, []], list);
        expect(comparable(restored, now)).toEqual(comparable(now, now));
        expect(faultsIn(restored)).toEqual([]);
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });

  it('brings back every user of any history that was lost and not removed, makes no secret valid, and does nothing more when it runs again', async () => {
    await fc.assert(
      fc.asyncProperty(operations(25, 8), operations(25, 8), LOSSES, async (before, since, list) => {
        const { admin, clock, copy, snapshot, now, restored, lines } = await restoredHistory(
          [before, since],
          list,
        );
        const past = new Set(snapshot.map(keyText));
        const listed = (id: unknown): boolean =>
          lines.some((line) => line.includes(`${id},`) && /taken|refused|differs/.test(line));
        const lost = usersIn(now).filter((user) => !restored.some(({ id }) => id === user.id));
        // Users that were linked since need a later restore point; one whose other items were corrected since is listed.
        expect(lost.filter((user) => past.has(keyText(user)) && !listed(user.id))).toEqual([]);
        const existed = new Set(usersIn(now).map(({ id }) => id));
        expect(usersIn(restored).filter(({ id }) => !existed.has(id))).toEqual([]);
        const wasValid = validSecretsIn(now, clock());
        const isNew = (secret: string): boolean => !wasValid.includes(secret);
        expect(validSecretsIn(restored, clock()).filter(isNew)).toEqual([]);
        expect((await copy()).filter(isDone)).toEqual([]);
        await reconcile(admin, { fix: true });
        expect((await reconcile(admin, { fix: false })).findings).toEqual([]);
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });

  it('changes nothing that exists but the numbers of the last events, whatever was lost or overwritten in any history', async () => {
    await fc.assert(
      fc.asyncProperty(
        operations(25, 8),
        operations(25, 8),
        damages('lost', 'older', 'emptied'),
        async (before, since, list) => {
          const { damaged, restored } = await restoredHistory([before, since], list);
          const after = new Map(restored.map((item) => [keyText(item), withoutCount(item)]));
          for (const item of damaged) expect(after.get(keyText(item))).toEqual(withoutCount(item));
        },
      ),
      { numRuns: 5, endOnFailure: true },
    );
  });
});
