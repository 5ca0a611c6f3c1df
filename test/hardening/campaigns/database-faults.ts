import { checkEvents, checkPages } from '../checks.ts';
import type { Fault } from '../fault-proxy.ts';
import type { Random } from '../random.ts';
import { signIn } from '../sign-ins.ts';
import { newWorker } from '../traffic.ts';
import type { Campaign } from './campaign.ts';

const WRITE_FAULTS: readonly Fault[] = [
  'delay',
  'reset',
  'lost-response',
  'lost-response',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'InternalServerError',
  'TransactionConflictException',
];
const BATCH_FAULTS: readonly Fault[] = ['delay', 'reset', 'unprocessed-keys', 'ThrottlingException'];
const FAULT_PROBABILITY = 0.06;

const SELLERS = ['A', 'B', 'C', 'D'];
const WORKERS_PER_SELLER = 3;
const PEOPLE_PER_WORKER = 40;
const WORKERS = SELLERS.length * WORKERS_PER_SELLER;
const PEOPLE = WORKERS * PEOPLE_PER_WORKER;
const FIRST_PERSON = 1000;
/** A sign-in sends a code, and verifies it twice, each up to three times. */
const REQUESTS_PER_SIGN_IN = 7;
/** Of fewer, chance alone takes more than the tenth that may reach no rule. */
const LEAST_SIGN_INS = 150;

const faultOf = (random: Random) => (action: string) => {
  if (!random.chance(FAULT_PROBABILITY)) return undefined;
  return random.pick(action === 'BatchGetItem' ? BATCH_FAULTS : WRITE_FAULTS);
};

/** Random operations of several sellers while database calls fail; then every visible state must agree with the model. */
export const databaseFaults: Campaign = {
  name: 'database faults',
  async run({ deployment, random, report, used, scale }) {
    const steps = Math.ceil((scale * 10_000) / WORKERS);
    const signIns = Math.max(LEAST_SIGN_INS, Math.ceil(scale * 400));
    const requests = steps * WORKERS_PER_SELLER + (signIns * REQUESTS_PER_SIGN_IN + PEOPLE) / SELLERS.length;
    const sellers = await Promise.all(
      SELLERS.map((name) => deployment.newSeller(`Faults ${name}`, requests)),
    );
    const workersOf = sellers.map((seller, sellerIndex) =>
      Array.from({ length: WORKERS_PER_SELLER }, (_, index) => {
        const number = sellerIndex * WORKERS_PER_SELLER + index;
        const firstPerson = FIRST_PERSON + number * PEOPLE_PER_WORKER;
        return newWorker({
          deployment,
          seller,
          firstPerson,
          people: PEOPLE_PER_WORKER,
          random: random.fork(number),
          report,
          used,
        });
      }),
    );
    const people = Array.from({ length: PEOPLE }, (_, index) => FIRST_PERSON + index);
    await deployment.register(people.map((index) => `+98955${String(index).padStart(7, '0')}`));

    deployment.proxy.plan(faultOf(random.fork(99)));
    await Promise.all(
      workersOf.flat().map(async (worker) => {
        for (let step = 0; step < steps; step += 1) {
          report.operation('changes and reads under database faults', await worker.step());
        }
      }),
    );
    for (let index = 0; index < signIns; index += 4) {
      await Promise.all(
        sellers.map(async (seller, offset) => {
          const phone = `+98955${String(3_000_000 + index + offset)}`;
          const hasSignedIn = await signIn(deployment, { key: seller.nextKey(), phone }, { report, used });
          report.operation('sign-ins under database faults', hasSignedIn);
        }),
      );
    }
    deployment.proxy.plan(() => undefined);
    for (const [fault, count] of deployment.proxy.counts)
      report.tried(`database calls with the fault: ${fault}`, count);
    await Promise.all(workersOf.flat().map((worker) => worker.settle()));
    for (const [index, seller] of sellers.entries()) {
      await checkPages(deployment, seller, workersOf[index] ?? [], report);
    }
    await checkEvents(deployment, sellers, report);
  },
};
