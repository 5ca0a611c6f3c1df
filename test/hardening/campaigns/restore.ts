import { isDeepStrictEqual } from 'node:util';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import { ensureTable } from '#local/database.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { itemsIn, keyText } from '#test/admin/operations/restore/damage.ts';
import { checkEvents, checkPages } from '../checks.ts';
import { openTableOf } from '../table.ts';
import { newWorker } from '../traffic.ts';
import type { Campaign } from './campaign.ts';

const FIRST_PERSON = 95_000;
/** The people whose items are lost, and those of each worker that goes on. */
const LOST_PEOPLE = 20;
const PEOPLE = 5;
const WORKERS = 8;
const STEPS = 40;

/** Loses users that were there at a random point of a history, and puts them back from there while eight workers go on. */
export const restore: Campaign = {
  name: 'restore beside traffic',
  async run({ deployment, random, report, used, scale }) {
    const table = await openTableOf(deployment);
    const rounds = Math.ceil(scale * 6);
    const perRound = LOST_PEOPLE + WORKERS * PEOPLE;
    const phones = Array.from(
      { length: rounds * perRound },
      (_, index) => `+98955${String(FIRST_PERSON + index).padStart(7, '0')}`,
    );
    await deployment.register(phones);
    for (let round = 0; round < rounds; round += 1) {
      const seller = await deployment.newSeller(`Restore ${round}`, 3000);
      const firstPerson = FIRST_PERSON + round * perRound;
      const shared = { deployment, seller, random, report, used };
      // A correction since the restore point is lost with its user.
      const losing = newWorker({ ...shared, firstPerson, people: LOST_PEOPLE, canCorrect: false });
      const others = Array.from({ length: WORKERS }, (_, index) =>
        newWorker({ ...shared, firstPerson: firstPerson + LOST_PEOPLE + index * PEOPLE, people: PEOPLE }),
      );
      const step = async (worker: typeof losing): Promise<void> =>
        report.operation('restore beside traffic', await worker.step());
      const work = async (): Promise<void> => {
        for (let left = STEPS; left > 0; left -= 1) await step(losing);
      };

      await work();
      const snapshot = new Map((await itemsIn(table)).map((item) => [keyText(item), item]));
      await work();
      await losing.settle();
      const source = { client: table.client, name: `restored-${round}` };
      await ensureTable(source);
      await putAll(source, [...snapshot.values()]);

      const now = await itemsIn(table);
      const linked = losing.linkedUsers().join();
      // A user of later, or one that has changed, is not in the restored table: a later one has it.
      const isLost = (item: StoredItem): boolean =>
        String(item.pk).startsWith('USERS#') &&
        linked.includes(String(item.id)) &&
        isDeepStrictEqual(snapshot.get(keyText(item)), item) &&
        random.chance(0.7);
      const users = now.filter(isLost);
      const ids = new Set(users.map(({ id }) => id));
      const pointers = now.filter(({ user_id, pk }) => !/^EVENTS#/.test(String(pk)) && ids.has(user_id));
      await deleteAll(table, [...users, ...pointers.filter(() => random.chance(0.7))]);
      report.tried('the loss of a user', users.length);

      let isCopied = false;
      const goOn = async (worker: typeof losing): Promise<void> => {
        do await step(worker);
        while (!isCopied);
      };
      const copy = async (): Promise<void> => {
        try {
          await deployment.admin('restore', 'copy', source.name, '--seller', seller.id, '--yes');
        } finally {
          isCopied = true;
        }
      };
      await Promise.all([copy(), ...others.map(goOn)]);
      for (const worker of others) await worker.settle();
      await checkPages(deployment, seller, [losing, ...others], report);
      await checkEvents(deployment, [seller], report);
      report.tried('a restore of lost users beside eight workers');
    }
    table.client.destroy();
  },
};
