import type { Administration } from '#admin/administration.ts';
import { findDifferences, repair } from '#admin/operations/reconcile.ts';

/** Finds the differences and repairs each, as `reconcile --fix` does. Returns what it found. */
export const reconciled = async (admin: Administration) => {
  const found = await findDifferences(admin);
  for (const difference of found.differences) await repair(admin, difference);
  return found;
};
