import { setTimeout as pause } from 'node:timers/promises';
import { checkPages, newWorker } from '../traffic.ts';
import type { Campaign } from './campaign.ts';

const PAUSE_MS = 400;

/** Kills the service and the database at random moments under load; nothing acknowledged may be lost. */
export const crashes: Campaign = {
  name: 'crashes',
  async run({ deployment, random, report, used, scale }) {
    const seller = await deployment.newSeller('Crashes');
    const first = 20_000;
    const people = Array.from(
      { length: 160 },
      (_, index) => `+98955${String(first + index).padStart(7, '0')}`,
    );
    await deployment.register(people);
    const workers = Array.from({ length: 4 }, (_, index) =>
      newWorker({
        deployment,
        seller,
        firstPerson: first + index * 40,
        people: 40,
        random: random.fork(index),
        report,
        used,
      }),
    );
    let isOver = false;
    const load = workers.map(async (worker) => {
      while (!isOver) {
        await worker.step();
        await pause(20);
      }
    });
    const serviceKills = Math.ceil(scale * 30);
    const databaseKills = Math.ceil(scale * 10);
    const kills = [...Array(serviceKills).fill('service'), ...Array(databaseKills).fill('database')];
    for (let left = kills; left.length > 0; ) {
      const [victim] = left.splice(random.integer(left.length), 1);
      await pause(PAUSE_MS * random.next());
      if (victim === 'service') await deployment.killService();
      else await deployment.killDatabase();
      report.tried(`SIGKILL of the ${victim} under load`);
      left = kills;
    }
    isOver = true;
    await Promise.all(load);
    await Promise.all(workers.map((worker) => worker.settle()));
    await checkPages(deployment, seller, workers, report);
  },
};
