import { setTimeout as pause } from 'node:timers/promises';
import { checkEvents, checkPages } from '../checks.ts';
import { newWorker } from '../traffic.ts';
import type { Campaign } from './campaign.ts';

const PAUSE_MS = 400;
const WORKERS = 4;
const PEOPLE_PER_WORKER = 40;
const STEP_PAUSE_MS = 20;
/** The most requests of the workers in a clock minute. */
const REQUESTS_PER_MINUTE = (WORKERS * 60_000) / STEP_PAUSE_MS;

/** Kills the service and the database at random moments under load; nothing acknowledged may be lost. */
export const crashes: Campaign = {
  name: 'crashes',
  async run({ deployment, random, report, used, scale }) {
    const seller = await deployment.newSeller('Crashes', scale * REQUESTS_PER_MINUTE);
    const first = 20_000;
    const people = Array.from(
      { length: WORKERS * PEOPLE_PER_WORKER },
      (_, index) => `+98955${String(first + index).padStart(7, '0')}`,
    );
    await deployment.register(people);
    const workers = Array.from({ length: WORKERS }, (_, index) =>
      newWorker({
        deployment,
        seller,
        firstPerson: first + index * PEOPLE_PER_WORKER,
        people: PEOPLE_PER_WORKER,
        random: random.fork(index),
        report,
        used,
      }),
    );
    let isOver = false;
    const load = workers.map(async (worker) => {
      while (!isOver) {
        await worker.step();
        await pause(STEP_PAUSE_MS);
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
    await checkEvents(deployment, [seller], report);
  },
};
