import { checkEvents, checkPages } from '../checks.ts';
import { sendCode, verifyTwice } from '../sign-ins.ts';
import { newWorker } from '../traffic.ts';
import type { Campaign } from './campaign.ts';

const FIRST_PERSON = 50_000;
const PEOPLE = 30;
const STEPS = 10;
const PAGES = 4;
const SELLERS = ['A', 'B', 'C', 'D'];

/**
 * Random operations of four sellers on the same people, at the same time. The model of each seller is independent of the others, so a
 * response that depends on another seller's data is a violation.
 */
export const model: Campaign = {
  name: 'model of four sellers on the same people',
  async run({ deployment, random, report, used, scale }) {
    const phones = Array.from(
      { length: PEOPLE },
      (_, index) => `+98955${String(FIRST_PERSON + index).padStart(7, '0')}`,
    );
    const others = phones.map((phone) => phone.replace('+98955', '+98956'));
    await deployment.register([...phones, ...others]);
    const sellers = [];
    const rounds = Math.ceil(scale * 40);
    // After each round four requests read the pages of each seller.
    for (const name of SELLERS) {
      sellers.push(await deployment.newSeller(`Model ${name}`, rounds * (STEPS + PAGES)));
    }
    const workers = sellers.map((seller, index) =>
      newWorker({
        deployment,
        seller,
        firstPerson: FIRST_PERSON,
        canCheck: true,
        people: PEOPLE,
        random: random.fork(index),
        report,
        used,
      }),
    );
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(
        workers.map(async (worker) => {
          for (let step = 0; step < STEPS; step += 1) {
            report.operation('model of four sellers', await worker.step());
          }
        }),
      );
      for (const [index, seller] of sellers.entries()) {
        await checkPages(deployment, seller, workers.slice(index, index + 1), report);
      }
    }
    await checkEvents(deployment, sellers, report);
    // Each seller sends a code to the same phone; then every one of these codes must still work for its own seller.
    const codes = [];
    for (const { key } of sellers) {
      const locale = random.pick(['fa', 'en'] as const);
      codes.push(await sendCode(deployment, { key, phone: String(phones[0]), locale }, { report, used }));
    }
    for (const sent of codes) if (sent !== undefined) await verifyTwice(deployment, sent, { report, used });
  },
};
