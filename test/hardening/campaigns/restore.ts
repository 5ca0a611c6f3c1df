import { isDeepStrictEqual } from 'node:util';
import { putAll } from '#admin/stores/batches.ts';
import { ensureTable } from '#local/database.ts';
import { sellerKey } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { damage, itemsIn, keyText } from '#test/admin/operations/restore/damage.ts';
import { call } from '../api.ts';
import { checkEvents, checkPages } from '../checks.ts';
import { keyIn } from '../deployment.ts';
import { openTableOf } from '../table.ts';
import { newWorker } from '../traffic.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';

const FIRST_PERSON = 95_000;
/** The people whose items are damaged, and those of each worker that goes on. */
const DAMAGED_PEOPLE = 20;
const PEOPLE = 5;
const WORKERS = 8;
const STEPS = 40;

/** Random changes of keys by the CLI. Keeps every secret there ever was. */
const keyChanges = ({ deployment: { admin }, random, used }: CampaignOptions, sellerId: string) => {
  const secrets: string[] = [];
  const ids: string[] = [];
  const added = (output: string): void => {
    secrets.push(keyIn(output));
    used.keys.add(keyIn(output));
  };
  const issue = async (): Promise<void> => {
    const about = ['--plan', 'professional', '--scopes', 'users:read', '--json'];
    const output = await admin('keys', 'issue', sellerId, ...about);
    added(output);
    ids.push(JSON.parse(output).key_id);
  };
  /** A revoked key refuses the change. */
  const change = async (): Promise<void> => {
    const id = random.pick(ids);
    const rotate = () =>
      admin('keys', 'rotate', id, '--grace', random.pick(['0', '1h']), '--yes', '--json').then(added);
    await random
      .pick([rotate, rotate, () => admin('keys', 'revoke', id, '--yes')])()
      .catch(() => {});
  };
  return { secrets, ids, issue, change };
};

/** Returns whether an item belongs to one of these users or keys. */
const belongsTo =
  (userIds: ReadonlySet<unknown>, keyIds: readonly string[]) =>
  ({ pk, sk, id, user_id, key_id }: StoredItem): boolean =>
    /^(?:USERS|PERSON|LINKS|EXTERNAL)#/.test(String(pk))
      ? userIds.has(id ?? user_id)
      : keyIds.includes(String(key_id ?? String(pk).slice('KEYID#'.length))) && sk !== sellerKey('').sk;

/** Loses what was there at a random point of a history, and puts it back from there while eight workers go on. */
export const restore: Campaign = {
  name: 'restore beside traffic',
  async run(options) {
    const { deployment, random, report, used, scale } = options;
    const table = await openTableOf(deployment);
    const rounds = Math.ceil(scale * 6);
    const perRound = DAMAGED_PEOPLE + WORKERS * PEOPLE;
    await deployment.register(
      Array.from(
        { length: rounds * perRound },
        (_, index) => `+98955${String(FIRST_PERSON + index).padStart(7, '0')}`,
      ),
    );
    for (let round = 0; round < rounds; round += 1) {
      const seller = await deployment.newSeller(`Restore ${round}`, 3000);
      const firstPerson = FIRST_PERSON + round * perRound;
      const shared = { deployment, seller, random, report, used };
      // A correction since the restore point is lost with its user.
      const damaged = newWorker({ ...shared, firstPerson, people: DAMAGED_PEOPLE, canCorrect: false });
      const others = Array.from({ length: WORKERS }, (_, index) =>
        newWorker({ ...shared, firstPerson: firstPerson + DAMAGED_PEOPLE + index * PEOPLE, people: PEOPLE }),
      );
      const step = async (worker: (typeof others)[number]): Promise<void> =>
        report.operation('restore beside traffic', await worker.step());
      const work = async (steps: number): Promise<void> => {
        for (let left = steps; left > 0; left -= 1) await step(damaged);
      };
      const keys = keyChanges(options, seller.id);
      const accepted = async (): Promise<string[]> => {
        const valid: string[] = [];
        for (const key of keys.secrets) {
          const reply = await call(deployment.baseUrl(), { method: 'GET', path: '/v1/key', key }, report);
          if (reply?.status === 200) valid.push(key);
        }
        return valid;
      };

      await work(STEPS);
      for (let left = 2; left > 0; left -= 1) await keys.issue();
      const snapshot = await itemsIn(table);
      for (let left = 1 + random.integer(3); left > 0; left -= 1) {
        await keys.change();
        await work(random.integer(STEPS / 2));
      }
      await damaged.settle();
      const wasAccepted = await accepted();
      const source = { client: table.client, name: `restored-${round}` };
      await ensureTable(source);
      await putAll(source, snapshot);

      const now = await itemsIn(table);
      const ids = new Set(damaged.linkedUsers().map((line) => /usr_[0-9A-Za-z]{22}/.exec(line)?.[0]));
      const list = Array.from({ length: 97 }, () => random.pick(['none', 'lost'] as const));
      const past = new Map(snapshot.map((item) => [keyText(item), item]));
      // What was written since is not in the restored table: a later one has it.
      const lossable = now.filter((item) => isDeepStrictEqual(past.get(keyText(item)), item));
      const lost = await damage(table, { snapshot, now: lossable.filter(belongsTo(ids, keys.ids)), list });
      report.tried('the loss of an item', lost.length);
      let isCopied = false;
      const goOn = async (worker: (typeof others)[number]): Promise<void> => {
        do await step(worker);
        while (!isCopied);
      };
      const copy = async (): Promise<void> => {
        await deployment.admin('restore', 'copy', source.name, '--yes');
        isCopied = true;
      };
      await Promise.all([copy(), ...others.map(goOn)]);
      for (const worker of others) await worker.settle();
      await checkPages(deployment, seller, [damaged, ...others], report);
      await checkEvents(deployment, [seller], report);
      const isAccepted = await accepted();
      report.expect(
        'no secret is accepted after a restore that was not before the damage',
        isAccepted.every((key) => wasAccepted.includes(key)),
        () => `${isAccepted.length} accepted, ${wasAccepted.length} before`,
      );
      report.tried('a restore of lost items beside eight workers');
    }
    table.client.destroy();
  },
};
