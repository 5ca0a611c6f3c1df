import type { Administration } from '#admin/administration.ts';
import { type AuditRecord, DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import { chunksOf } from '#shared/table/reads.ts';
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
  for (const some of chunksOf([...subjects], AT_ONCE)) {
    const records = await Promise.all(some.map((subject) => audit.list(subject, { since, isWanted, limit })));
    found.push(...records.flat());
  }
  return found.sort((a, b) => b.at.localeCompare(a.at)).slice(0, limit);
};
