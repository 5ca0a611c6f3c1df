import {
  decideBuyer,
  decideMissingUser,
  decidePresentUser,
  keysOf,
  pointersOf,
  type UserDecision,
} from '#admin/operations/restore/decisions.ts';
import type { Erasures, RemovalsSince } from '#admin/stores/restored-items.ts';
import {
  buyerKey,
  endedLinkKey,
  externalIdKey,
  personKey,
  phoneLinkKey,
  removalBlockKey,
  sellerKey,
  tombstoneKey,
  userKey,
} from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { withRemoved } from '#shared/users/removals.ts';
import { userIdAt } from '#shared/users/user-id.ts';
import { itForAll } from '#test/for-all.ts';

const SELLER = 'sel_1';
const USER: StoredItem = {
  ...userKey(SELLER, 3),
  id: userIdAt(3, 'A'.repeat(15)),
  person_hash: 'person',
  phone_hash: 'phone',
  birth_date: '1370/1/15',
  external_id: 'E-1',
  last_event: 3,
};
const OTHER_ID = userIdAt(9, 'B'.repeat(15));
const SELLER_ITEM = { ...sellerKey(SELLER), user_count: 9, removed_count: 0, event_count: 20 };
const PERSON = personKey(SELLER, 'person');
const REFUSAL = endedLinkKey('phone', SELLER, 'person');
const POINTERS = pointersOf(SELLER, USER);

const NOBODY: Erasures = { phones: new Set(), buyers: new Set() };
const ERASED: Erasures = { phones: new Set(['phone']), buyers: new Set() };
const NONE: RemovalsSince = { byUser: new Map(), newest: 20, isComplete: true };
const removedBy = (reason: string): RemovalsSince => ({
  ...NONE,
  byUser: new Map([[USER.id, { reason, at: '2026-11-21T10:00:07.900Z' }]]),
});
const AT = Date.parse('2026-11-21T10:00:07Z') / 1000;

interface Case {
  readonly user?: StoredItem;
  readonly live?: readonly StoredItem[];
  readonly erasures?: Erasures;
  readonly removals?: RemovalsSince;
}

const decided = ({ user = USER, live = [SELLER_ITEM], erasures = NOBODY, removals = NONE }: Case) =>
  decideMissingUser({ sellerId: SELLER, erasures, removals }, user, ({ pk, sk }) =>
    live.find((item) => item.pk === pk && item.sk === sk),
  );

const beside = (...items: readonly StoredItem[]): readonly StoredItem[] => [SELLER_ITEM, ...items];

const REMOVED_BLOCK = { ...removalBlockKey(SELLER, 0), removed_ordinals: withRemoved(undefined, 3) };
const REFUSED = { phone_hash: 'phone', refused_at: 7 };

describe('a user that the live table lacks', () => {
  it('comes back with each item that points to it and is missing', () => {
    expect(decided({})).toEqual({ result: 'missing', puts: POINTERS });
    expect(decided({ live: beside(...POINTERS.slice(0, 2)) })).toEqual({
      result: 'missing',
      puts: POINTERS.slice(2),
    });
    expect(POINTERS).toEqual([
      { ...PERSON, ordinal: 3, user_id: USER.id, phone_hash: 'phone', birth_day: '1991-04-04' },
      { ...phoneLinkKey('phone', SELLER, 3), user_id: USER.id },
      { ...externalIdKey(SELLER, 'E-1'), user_id: USER.id },
    ]);
  });

  it('is decided by items that are all read', () => {
    const keys = keysOf(SELLER, USER).map(({ pk, sk }) => `${pk} ${sk}`);
    const read = [userKey(SELLER, 3), ...beside(...POINTERS, REFUSAL as never, REMOVED_BLOCK)];
    expect(keys).toEqual(expect.arrayContaining(read.map(({ pk, sk }) => `${pk} ${sk}`)));
    expect(keys).toContain(`${tombstoneKey(SELLER, 3).pk} ${tombstoneKey(SELLER, 3).sk}`);
  });

  itForAll<[string, UserDecision['result'], Case]>([
    ['its id is not of its place', 'damaged', { user: { ...USER, id: OTHER_ID } }],
    ['it has no hash of a phone', 'damaged', { user: { ...USER, phone_hash: undefined } }],
    ['it has no hash of a person', 'damaged', { user: { ...USER, person_hash: undefined } }],
    ['it has no day of birth', 'damaged', { user: { ...USER, birth_date: '1370/13/1' } }],
    ['its seller is missing', 'seller_missing', { live: [] }],
    ['its seller counts fewer users', 'seller_missing', { live: [{ ...SELLER_ITEM, user_count: 2 }] }],
    ['its seller counts fewer events', 'seller_missing', { live: [{ ...SELLER_ITEM, event_count: 19 }] }],
    ['a tombstone says so', 'removed', { live: beside({ ...tombstoneKey(SELLER, 3), id: USER.id }) }],
    ['the index of removals says so', 'removed', { live: beside(REMOVED_BLOCK) }],
    ['an event says so', 'removed', { removals: removedBy('seller') }],
    ['the erasure of its buyer has removed it', 'removed', { erasures: ERASED, live: beside(REMOVED_BLOCK) }],
    ['events since are missing', 'removal_unknown', { removals: { ...NONE, isComplete: false } }],
    [
      'another user has its external id',
      'taken',
      { live: beside({ ...externalIdKey(SELLER, 'E-1'), user_id: OTHER_ID }) },
    ],
    [
      'another user has its phone link',
      'taken',
      { live: beside({ ...phoneLinkKey('phone', SELLER, 3), user_id: OTHER_ID }) },
    ],
    [
      'its person has another phone since',
      'taken',
      { live: beside({ ...POINTERS[0], phone_hash: 'later' }) },
    ],
  ])('stays away, and nothing is written, if %s', (_title, result, about) => {
    expect(decided(about)).toEqual({ result });
  });

  it('becomes a tombstone if its buyer was erased or its person is linked again, and what points to it goes', () => {
    const live = beside(...POINTERS.slice(0, 2));
    const closed = { deletes: POINTERS.slice(0, 2), closesPlace: true };
    expect(decided({ live, erasures: ERASED })).toEqual({ ...closed, result: 'erased' });
    const again = { ...PERSON, user_id: OTHER_ID, phone_hash: 'phone' };
    expect(decided({ live: beside(again, ...POINTERS.slice(1)) })).toEqual({
      result: 'linked_again',
      deletes: POINTERS.slice(1),
      closesPlace: true,
    });
  });

  it('becomes no tombstone while nobody knows whether its removal was counted', () => {
    const removals = { ...NONE, isComplete: false };
    expect(decided({ removals, erasures: ERASED })).toEqual({ result: 'erased' });
  });
});

describe('a user whose buyer has ended the link', () => {
  const PUTS = [
    { ...PERSON, ...REFUSED },
    { ...REFUSAL, ...REFUSED },
  ] as const;

  itForAll<[string, Case, Omit<UserDecision, 'result'>]>([
    ['both items of the refusal are there', { live: beside(REMOVED_BLOCK, ...PUTS) }, { puts: [] }],
    [
      'the item of the phone is missing',
      { live: beside(REMOVED_BLOCK, PUTS[0]) },
      { puts: [PUTS[1]], unchanged: PUTS[0] },
    ],
    [
      'the item of the person is missing',
      { live: beside(REMOVED_BLOCK, PUTS[1]) },
      { puts: [PUTS[0]], unchanged: PUTS[1] },
    ],
    [
      'both are missing, and the event of the end is there',
      { live: beside(REMOVED_BLOCK), removals: removedBy('buyer') },
      { puts: PUTS.map((item) => ({ ...item, refused_at: AT })) },
    ],
    [
      'the refusal is by another phone of the person',
      { live: beside(REMOVED_BLOCK, { ...PERSON, phone_hash: 'later', refused_at: 7 }) },
      { puts: [] },
    ],
  ])('stays away, and what is missing of the refusal comes back, if %s', (_title, about, writes) => {
    expect(decided(about)).toEqual({ unchanged: undefined, deletes: [], ...writes, result: 'ended' });
  });

  it('becomes a tombstone if its removal was not counted: a later link of the person was ended', () => {
    expect(decided({ live: beside(...PUTS) })).toMatchObject({ result: 'ended', closesPlace: true });
    const removals = { ...NONE, isComplete: false };
    expect(decided({ live: beside(...PUTS), removals })).not.toHaveProperty('closesPlace');
  });

  it('gets no refusal back if the buyer was erased, or the person is linked again', () => {
    const removals = removedBy('buyer');
    expect(decided({ removals, erasures: ERASED })).toEqual({ result: 'removed' });
    expect(decided({ removals, live: beside({ ...PERSON, user_id: OTHER_ID }) })).toEqual({
      result: 'removed',
    });
  });
});

describe('a user that is there', () => {
  it('is listed only if another one has its place, or its buyer was erased with this phone', () => {
    expect(decidePresentUser(NOBODY, USER, USER)).toBeUndefined();
    expect(decidePresentUser(NOBODY, USER, { ...USER, display_name: 'Sara' })).toBeUndefined();
    expect(decidePresentUser(NOBODY, USER, { ...USER, id: OTHER_ID })).toBe('taken');
    expect(decidePresentUser(ERASED, USER, USER)).toBe('not_erased');
    expect(decidePresentUser(ERASED, USER, { ...USER, phone_hash: 'later' })).toBeUndefined();
  });
});

describe('a registration', () => {
  const BUYER = { ...buyerKey('phone'), buyer_id: 'byr_1', registered_at: '2026-11-20T00:00:00.000Z' };
  const LATER = { ...BUYER, registered_at: '2026-11-21T00:00:00.000Z' };

  it('comes back unless the buyer was removed or erased since', () => {
    expect(decideBuyer(NOBODY, BUYER, undefined)).toBe('missing');
    expect(decideBuyer({ ...NOBODY, buyers: new Set(['byr_1']) }, BUYER, undefined)).toBe('removed');
    expect(decideBuyer(ERASED, BUYER, undefined)).toBe('erased');
  });

  it('that is there is listed only if the buyer was erased, and did not register again', () => {
    expect(decideBuyer(NOBODY, BUYER, BUYER)).toBeUndefined();
    expect(decideBuyer(ERASED, BUYER, BUYER)).toBe('not_erased');
    expect(decideBuyer(ERASED, BUYER, LATER)).toBeUndefined();
  });
});
