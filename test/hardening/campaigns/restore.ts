import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { ensureTable } from '#local/table.ts';
import type { Table } from '#shared/table/client.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { damage, damageable, itemsIn, putAll } from '#test/admin/operations/restored-table.ts';
import { call } from '../api.ts';
import { checkPages } from '../checks.ts';
import { keyIn } from '../deployment.ts';
import { openTableOf } from '../table.ts';
import { newWorker } from '../traffic.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';

const FIRST_PERSON = 95_000;
const PEOPLE = 30;
const LINKED_FIRST = 60;

/** Keeps the table as `old`, and gives its name to one with the items of the snapshot. */
const restoreTo = async (table: Table, old: Table, snapshot: readonly StoredItem[]): Promise<void> => {
  await ensureTable(old);
  await putAll(old, await itemsIn(table));
  await table.client.send(new DeleteTableCommand({ TableName: table.name }));
  await ensureTable(table);
  await putAll(table, snapshot);
};

/** Random changes of keys by the CLI. Keeps every secret there ever was. */
const keyChanges = ({ deployment: { admin }, random, used }: CampaignOptions, sellerId: string) => {
  const secrets: string[] = [];
  const ids: string[] = [];
  const added = (output: string): void => {
    secrets.push(keyIn(output));
    used.keys.add(keyIn(output));
  };
  const issue = async (): Promise<void> => {
    const output = await admin(
      ...['keys', 'issue', sellerId, '--plan', 'professional', '--scopes', 'users:read', '--json'],
    );
    added(output);
    ids.push(JSON.parse(output).key_id);
  };
  /** A revoked key refuses the change. */
  const change = async (): Promise<void> => {
    const id = random.pick(ids);
    const rotated = () =>
      admin('keys', 'rotate', id, '--grace', random.pick(['0', '1h']), '--yes', '--json').then(added);
    const changes = [issue, rotated, rotated, () => admin('keys', 'revoke', id, '--yes')];
    await random
      .pick(changes)()
      .catch(() => {});
  };
  return { secrets, issue, change };
};

/** Restores the table to a random point of a history and replays it: every key and user must be as before the damage. */
export const restore: Campaign = {
  name: 'restore and replay',
  async run(options) {
    const { deployment, random, report, used, scale } = options;
    const rounds = Math.ceil(scale * 6);
    const table = await openTableOf(deployment);
    const phones = Array.from(
      { length: PEOPLE * rounds },
      (_, index) => `+98955${String(FIRST_PERSON + index).padStart(7, '0')}`,
    );
    await deployment.register(phones);
    for (let round = 0; round < rounds; round += 1) {
      const seller = await deployment.newSeller(`Restore ${round}`, 4 * LINKED_FIRST);
      const firstPerson = FIRST_PERSON + round * PEOPLE;
      const shared = { deployment, seller, firstPerson, people: PEOPLE, random, report, used };
      // A replay keeps the name of the restore point of a user that both tables have.
      const worker = newWorker({ ...shared, canCorrect: false });
      const work = async (steps: number): Promise<void> => {
        for (let step = 0; step < steps; step += 1) report.operation('restore', await worker.step());
      };
      const keys = keyChanges(options, seller.id);
      const statuses = () =>
        Promise.all(
          [seller.key, ...keys.secrets].map(
            async (key) =>
              (await call(deployment.baseUrl(), { method: 'GET', path: '/v1/users', key }, report))?.status,
          ),
        );

      await work(LINKED_FIRST);
      for (let count = 0; count < 3; count += 1) await keys.issue();
      for (let left = random.integer(4); left > 0; left -= 1) await keys.change();
      const snapshot = await itemsIn(table);
      for (let left = 2 + random.integer(6); left > 0; left -= 1) {
        await keys.change();
        await work(random.integer(LINKED_FIRST / 4));
      }
      await worker.settle();
      const before = await statuses();
      const lost = damageable(snapshot, await itemsIn(table)).filter(() => random.chance(0.3));
      await damage(table, lost);

      const old = { client: table.client, name: `old${round}` };
      await restoreTo(table, old, snapshot);
      const refused = await deployment
        .admin('reconcile', '--fix', '--yes')
        .catch((error: Error) => error.message);
      report.expect(
        'reconcile refuses a table that was not replayed',
        refused.includes('restore replay'),
        () => refused,
      );
      await deployment.admin('restore', 'replay', '--from', old.name, '--yes');
      await deployment.admin('reconcile');
      const after = await statuses();
      report.expect(
        'every secret is accepted or refused as before the restore',
        String(after) === String(before),
        () => `${before} before, ${after} after`,
      );
      await checkPages(deployment, seller, [worker], report);
      report.tried('a restore of the damaged table to a random point');
    }
    table.client.destroy();
  },
};
