import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { type NewUser, newPerson } from '#test/generated-people.ts';
import { seededRandom } from '#test/hardening/random.ts';
import { registerBuyer } from '#test/scenarios/buyers.ts';
import { localTarget } from '#test/service/local-target.ts';
import { newDataFolder, type RunningService, startRunningService } from '#test/service/running-service.ts';
import { type BuyerLinkingClient, buyerLinking } from '../../client/src/index.ts';
import { type Kill, type KillingProxy, startKillingProxy } from './killing-proxy.ts';
import { parsePage, textOf } from './page.ts';

const CLIENT = fileURLToPath(new URL('../../client/src/index.ts', import.meta.url));

let service: RunningService;
let proxy: KillingProxy;
let client: BuyerLinkingClient;
let shop: string;

/** Makes the reader's project: the program of the page, and the client, from its sources. */
const makeShop = async (): Promise<string> => {
  const folder = await newDataFolder();
  for (const step of parsePage(textOf('docs/sellers/keep-in-step.md')).steps) {
    if ('name' in step) await writeFile(join(folder, step.name), step.text);
  }
  await writeFile(join(folder, 'buyer-linking-client.mjs'), `export * from ${JSON.stringify(CLIENT)};`);
  return folder;
};

/** Starts the program. Without a kill it runs until the test ends it. */
const start = (kill?: Kill): ChildProcess => {
  const program = spawn(process.execPath, ['mirror.mts'], {
    cwd: shop,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      BUYER_LINKING_URL: proxy.url,
      BUYER_LINKING_API_KEY: service.demo.keys.events,
    },
  });
  proxy.watch(program, kill);
  return program;
};

/** Waits until the program has stored every event, and kills it. */
const untilInStep = async (): Promise<void> => {
  const { last_sequence: last } = await client.listEvents();
  const stored = proxy.requested(`/v1/events?after=${last}`);
  const program = start();
  const ended = once(program, 'exit');
  await Promise.race([
    stored,
    ended.then(() => {
      throw new Error('the program ended');
    }),
  ]);
  program.kill('SIGKILL');
  await ended;
};

const mirrored = (): unknown[] => {
  const db = new DatabaseSync(join(shop, 'users.sqlite'), { readOnly: true });
  const rows = db.prepare('SELECT id, phone, name, external_id FROM users ORDER BY id').all();
  db.close();
  return rows.map((row) => ({ ...row }));
};

const usersOfService = async (): Promise<unknown[]> => {
  const users = [];
  for await (const { id, phone, display_name: name, external_id } of client.users()) {
    users.push({ id, phone, name, external_id });
  }
  return users.sort((a, b) => (a.id < b.id ? -1 : 1));
};

const link = async (): Promise<string> => {
  const person: NewUser = newPerson();
  await registerBuyer(localTarget(service.demo), person.phone);
  return (await client.linkBuyer(person)).user.id;
};

/** Runs the program of docs/sellers/keep-in-step.md against the local service. It is killed at so many requests, which the seed chooses. */
export const mirrorTests = ({ kills, seed }: { readonly kills: number; readonly seed: number }): void => {
  beforeAll(async () => {
    service = await startRunningService({ args: ['--memory'] });
    const { base_url: baseUrl, keys } = service.demo;
    proxy = await startKillingProxy(baseUrl);
    client = buyerLinking({ baseUrl, apiKey: keys.events });
    shop = await makeShop();
  });

  afterAll(async () => {
    await proxy?.close();
    await service?.stop();
    for (const folder of [shop, service?.folder]) await rm(String(folder), { recursive: true, force: true });
  });

  it('has the users of the service after it was killed at random requests while users changed', async () => {
    const random = seededRandom(seed);
    const linked = [await link(), await link(), await link()];
    for (let killed = 0; killed < kills; killed += 1) {
      const [id] = linked.splice(random.integer(linked.length), 1) as [string];
      await client.updateUser(id, { display_name: `Name ${killed}`, external_id: `order:${killed}` });
      linked.push(await link());
      if (random.chance(0.5)) await client.removeUser(id);
      else linked.push(id);
      const program = start({ request: 1 + random.integer(5), isAnswered: random.chance(0.5) });
      const [code, signal] = await once(program, 'exit');
      expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' });
    }
    await untilInStep();
    expect(mirrored()).toEqual(await usersOfService());
  });

  it('starts from nothing when the events after its own are unknown, and deletes what no event named', async () => {
    await link();
    const db = new DatabaseSync(join(shop, 'users.sqlite'));
    db.exec("UPDATE place SET sequence = 999999; INSERT INTO users (id) VALUES ('usr_of_a_restored_state')");
    db.close();
    await untilInStep();
    expect(mirrored()).toEqual(await usersOfService());
  });
};
