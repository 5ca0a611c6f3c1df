import type { Administration } from '#admin/administration.ts';
import { inTurns } from '#admin/stores/batches.ts';
import { type AuditRecord, DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import { SELLER_DELETED } from './delete-seller.ts';

/** Subjects that are read at the same time, with a query each: the SDK opens no more connections. */
const AT_ONCE = 50;

interface RecentRecords {
  /** ISO, UTC. */
  readonly since: string;
  readonly isWanted: (record: AuditRecord) => boolean;
  readonly limit: number;
}

/**
 * Returns the newest wanted records since a time, newest first: of the deployment, of all sellers, and of those that were deleted since. It
 * queries the records since then of each seller and does not scan the table.
 */
export const readRecentAudit = async (
  { sellers, audit }: Administration,
  { since, isWanted, limit }: RecentRecords,
): Promise<AuditRecord[]> => {
  // The list first: whoever is deleted before it is read has a record of that in the deployment.
  const ids = (await sellers.list()).map(({ seller_id }) => seller_id);
  const ofDeployment = await audit.list(DEPLOYMENT_SUBJECT, { since });
  const deleted = ofDeployment.filter(({ action }) => action === SELLER_DELETED);
  const subjects = new Set([...ids, ...deleted.map(({ details }) => String(details.seller_id))]);
  const found = ofDeployment.filter((record) => !deleted.includes(record) && isWanted(record));
  const ofSellers = await inTurns([...subjects], AT_ONCE, (subject) =>
    audit.list(subject, { since, isWanted, limit }),
  );
  return [...found, ...ofSellers.flat()].sort((a, b) => b.at.localeCompare(a.at)).slice(0, limit);
};
