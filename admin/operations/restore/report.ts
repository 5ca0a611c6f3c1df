/** The states of a restore, and the report of what it found in which state. */

/** What the live table has of a group that the restored table has, and what to do, in a line of a terminal each. docs/admin.md says more. */
export const STATES = {
  missing: '`restore copy` puts it back.',
  copied: 'Was missing and is back.',
  pending: 'The key is back and waits: `keys confirm` or `keys revoke`.',
  change_lost: 'A change since is lost: it comes back as it was before. Make it again.',
  removed: 'Was removed or revoked since. Stays away.',
  refused: 'The buyer has ended the link since. Stays away.',
  erased: 'The buyer was erased since. Stays away. Tell the seller of a user.',
  not_erased: 'The buyer was erased since, but this is left. Run `buyers erase` again.',
  taken: 'Its place, person or external id belongs to another one. Not copied.',
  may_be_removed: 'May have been removed: events since are missing. Not copied: ask the seller.',
  differs: 'Is another one, and no change since explains it. Repair it by hand.',
  counts_low: 'The counts of the seller are too low. Set them by hand, then copy again.',
  rotated: 'The key was rotated since. Not copied: issue another one.',
  removals_unknown: 'Was missing: users that it removed since may come back. Ask it.',
  seller_unknown: 'The restored table lacks the seller. Restore another moment.',
} as const;

export type State = keyof typeof STATES;

/** One group of items, by its id. Refusals have none. */
export interface Finding {
  readonly kind: 'seller' | 'user' | 'buyer' | 'refusal' | 'key';
  readonly state: State;
  readonly sellerId?: string | undefined;
  readonly id?: unknown;
}

/** The ids of a state that the report keeps. The list has all. */
const IDS_KEPT = 20;

/** Counts findings by seller, and writes each to `list`, a line of CSV each. It keeps a few ids only, however many there are. */
export const restoreReport = (list?: { write(line: string): unknown }) => {
  const counts = new Map<string, { readonly about: Finding; count: number }>();
  const first = new Map<State, Finding[]>();
  list?.write('seller_id,kind,id,state\n');
  return {
    add(finding: Finding): void {
      const { kind, state, sellerId = '', id = '' } = finding;
      const line = counts.get(`${sellerId} ${kind} ${state}`) ?? { about: finding, count: 0 };
      line.count += 1;
      counts.set(`${sellerId} ${kind} ${state}`, line);
      const kept = first.get(state) ?? [];
      if (kept.length < IDS_KEPT) first.set(state, [...kept, finding]);
      list?.write(`${sellerId},${kind},${id},${state}\n`);
    },
    /** How often each seller has what. Buyers belong to no seller. */
    counts: () =>
      [...counts.values()].map(({ about: { sellerId = null, kind, state }, count }) => {
        return { seller_id: sellerId, kind, state, count };
      }),
    /** The first ids of a state. */
    first: (state: State) =>
      (first.get(state) ?? []).map(({ kind, id = null, sellerId = null }) => ({
        kind,
        id,
        seller_id: sellerId,
      })),
  };
};

export type RestoreReport = ReturnType<typeof restoreReport>;
