import '#test/slow-time.ts';
import fc from 'fast-check';
import { REMOVAL_REASONS } from '#shared/events/event.ts';
import type { NewLink } from '#shared/users/link-user.ts';
import { runsOf } from '#test/full-run.ts';
import { useTable } from '#test/table/use-table.ts';
import { linkOf, noResponse, resend, storeWhose, withExternalId } from './linking.ts';
import {
  createModelSeller,
  EXTERNAL_IDS,
  expectEvents,
  expectExternalIds,
  expectIds,
  expectPages,
  expectPhones,
  hashOf,
  type ModelSeller,
  PHONES,
} from './model.ts';
import { type UserStore, userStore } from './user-store.ts';

const table = useTable();
let store: UserStore;

beforeAll(() => {
  store = userStore(table);
});

/** So many that a page begins in the middle of a block with removals. */
const PEOPLE = ['sara', 'ali', 'mina', 'reza', 'nima', 'leila', 'omid', 'parisa'];

/** What happens to the first transaction of a step. */
const FAULTS = ['none', 'response lost', 'request lost', 'sent twice'] as const;

type Fault = (typeof FAULTS)[number];

/** A store whose first transaction meets a fault. */
const storeWith = (fault: Fault): UserStore => {
  if (fault === 'none') return store;
  if (fault === 'sent twice') return storeWhose(table, resend);
  return storeWhose(table, async (send) => {
    if (fault === 'response lost') await send();
    throw noResponse;
  });
};

const seller = fc.constantFrom(0, 1);
const fault = fc.constantFrom(...FAULTS);
const nth = fc.nat(9);

const links = fc.record({
  kind: fc.constant('link' as const),
  seller,
  fault,
  person: fc.constantFrom(...PEOPLE),
  phone: fc.constantFrom(...PHONES),
  externalId: fc.option(fc.constantFrom(...EXTERNAL_IDS), { nil: undefined }),
});

const removals = fc.record({
  kind: fc.constant('remove' as const),
  seller,
  fault,
  nth,
  reason: fc.constantFrom(...REMOVAL_REASONS),
});

const updates = fc.record({
  kind: fc.constant('update' as const),
  seller,
  fault,
  nth,
  update: fc.record(
    {
      display_name: fc.constantFrom('sara', 'Sara Ahmadi', 'Ali'),
      external_id: fc.constantFrom(null, ...EXTERNAL_IDS),
    },
    { requiredKeys: [] },
  ),
});

const rotations = fc.record({ kind: fc.constant('rotate' as const) });

type Link = Parameters<Parameters<typeof links.map>[0]>[0];
type Update = Parameters<Parameters<typeof updates.map>[0]>[0];
type Removal = Parameters<Parameters<typeof removals.map>[0]>[0];

const link = async (model: ModelSeller, { person, phone, ...step }: Link, rotated: number): Promise<void> => {
  const newLink: NewLink = {
    ...withExternalId(linkOf(model.sellerId, person, phone), step.externalId),
    person: hashOf(person, rotated),
    phone: hashOf(phone, rotated),
  };
  const result = await storeWith(step.fault).link(newLink);
  const existing = model.users.find((user) => user.person === person);
  const isTaken = model.users.some(
    ({ user }) => step.externalId !== undefined && user.external_id === step.externalId,
  );
  expect(result.written).toBe(existing === undefined && !isTaken);
  if (!result.written) return;
  model.users.push({ user: result.value, person, phone });
  model.events.push({ type: 'user.linked', user_id: result.value.id });
};

/** Removes one of all users that ever were. */
const remove = async (model: ModelSeller, step: Removal): Promise<void> => {
  const ids = [...model.users.map(({ user }) => user.id), ...model.removedIds];
  const id = ids[step.nth % Math.max(1, ids.length)] ?? 'usr_1';
  const index = model.users.findIndex(({ user }) => user.id === id);
  const isRemoved = model.removedIds.includes(id);
  const options = { removedAt: new Date().toISOString(), reason: step.reason };
  const result = await storeWith(step.fault).removeUser(model.sellerId, id, options);
  expect(result).toBe(index >= 0 ? 'removed' : isRemoved ? 'already_removed' : 'not_found');
  if (index < 0) return;
  model.users.splice(index, 1);
  model.removedIds.push(id);
  model.events.push({ type: 'user.removed', user_id: id, reason: step.reason });
};

/** Corrects one of all users that ever were. */
const update = async (model: ModelSeller, step: Update): Promise<void> => {
  const ids = [...model.users.map(({ user }) => user.id), ...model.removedIds];
  const id = ids[step.nth % Math.max(1, ids.length)] ?? 'usr_1';
  const target = model.users.find(({ user }) => user.id === id);
  const options = { update: step.update, updatedAt: new Date().toISOString() };
  const result = await storeWith(step.fault).updateUser(model.sellerId, id, options);
  const isTaken = model.users.some(
    ({ user }) => user.id !== id && user.external_id !== null && user.external_id === step.update.external_id,
  );
  if (target === undefined || isTaken) {
    const reason = target === undefined ? 'user_not_found' : 'external_id_conflict';
    return expect(result).toEqual({ written: false, reason });
  }
  const before = target.user;
  target.user = { ...before, ...step.update };
  expect(result).toEqual({ written: true, value: target.user });
  const isChanged = JSON.stringify(before) !== JSON.stringify(target.user);
  if (isChanged) model.events.push({ type: 'user.updated', user_id: id });
};

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: links },
    { weight: 4, arbitrary: removals },
    { weight: 4, arbitrary: updates },
    { weight: 1, arbitrary: rotations },
  ),
  { minLength: 10, maxLength: 25 },
);

/** Compares all that can be read of a seller with the model. */
const expectSeller = (
  seller: ModelSeller,
  { other, rotated }: { readonly other: ModelSeller; readonly rotated: number },
) =>
  Promise.all([
    expectPages(store, seller),
    expectPhones(store, seller, rotated),
    expectExternalIds(store, seller),
    expectEvents(table, seller),
    expectIds(store, seller, other),
  ]);

describe('the user store', () => {
  let runs = 0;

  it('agrees with a plain list after each change, with lost requests and responses: pages, ids, phones, external ids and events', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (walk) => {
        runs += 1;
        const first = await createModelSeller(table, `sel_${runs}_0`);
        const second = await createModelSeller(table, `sel_${runs}_1`);
        let rotated = 0;
        for (const step of walk) {
          if (step.kind === 'rotate') {
            rotated += 1;
            continue;
          }
          const [changed, other] = step.seller === 0 ? [first, second] : [second, first];
          if (step.kind === 'link') await link(changed, step, rotated);
          else if (step.kind === 'update') await update(changed, step);
          else await remove(changed, step);
          await expectSeller(changed, { other, rotated });
        }
        await expectSeller(first, { other: second, rotated });
        await expectSeller(second, { other: first, rotated });
      }),
      { numRuns: runsOf(10) },
    );
  });
});
