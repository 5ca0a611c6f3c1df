import type { Ids } from '#admin/ids.ts';

/** Identifiers that count up, for tests. */
export const countingIds = (): Ids => {
  let count = 0;
  return (prefix) => {
    count += 1;
    return `${prefix}_${String(count).padStart(22, '0')}`;
  };
};
