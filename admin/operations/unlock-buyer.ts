import { type Administration, step } from '#admin/administration.ts';
import { transact } from '#admin/stores/transactions.ts';
import { FIRST_LOCK_AT, PUBLIC_AUDIENCE, SENDS_KEPT_SECONDS } from '#shared/one-time-codes/rules.ts';
import { codesPartition, type ItemKey } from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';

/** Clears the failures of one code item, with the audit record in the same transaction. False: there were none any more. */
const clearFailures = (admin: Administration, Key: ItemKey): Promise<boolean> => {
  const Update = {
    TableName: admin.table.name,
    Key,
    UpdateExpression:
      'SET failures = :zero, lock_at = :firstLock, version = version + :one, #ttl = :ttl REMOVE last_failure_at',
    ConditionExpression: 'failures > :zero',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':zero': 0,
      ':one': 1,
      ':firstLock': FIRST_LOCK_AT,
      ':ttl': Math.floor(admin.clock() / 1000) + SENDS_KEPT_SECONDS,
    },
  };
  const seller_id = Key.sk === PUBLIC_AUDIENCE ? undefined : Key.sk;
  return transact(admin.table, [{ Update }], admin.record({ action: 'buyer.unlocked', seller_id }));
};

/**
 * Clears the failed codes of a phone and with them its locks, for all sellers. A code that was sent stays valid, and the limits on
 * sends stay. Returns the number of sellers that had failures. `phoneHashes`: its hashes under every key still in use.
 */
export const unlockBuyer = async (admin: Administration, phoneHashes: readonly string[]): Promise<number> => {
  let unlocked = 0;
  for (const pk of phoneHashes.map(codesPartition)) {
    const items = await queryAll(admin.table, { pk });
    for (const { sk } of items.filter(({ failures }) => Number(failures ?? 0) > 0)) {
      const isCleared = await step(admin, 'unlock: clear the failures', () =>
        clearFailures(admin, { pk, sk: String(sk) }),
      );
      unlocked += Number(isCleared);
    }
  }
  return unlocked;
};
