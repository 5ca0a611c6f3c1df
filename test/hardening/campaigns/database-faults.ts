import type { Fault } from '../fault-proxy.ts';
import type { Random } from '../random.ts';
import { signIn } from '../sign-ins.ts';
import { checkPages, newWorker } from '../traffic.ts';
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

const faultOf = (random: Random) => (action: string) => {
  if (!random.chance(FAULT_PROBABILITY)) return undefined;
  return random.pick(action === 'BatchGetItem' ? BATCH_FAULTS : WRITE_FAULTS);
};

/** Random operations of several sellers while database calls fail; then every visible state must agree with the model. */
export const databaseFaults: Campaign = {
  name: 'database faults',
  async run({ deployment, random, report, used, scale }) {
    const sellers = await Promise.all(
      ['A', 'B', 'C', 'D'].map((name) => deployment.newSeller(`Faults ${name}`)),
    );
    const workersOf = sellers.map((seller, sellerIndex) =>
      Array.from({ length: 3 }, (_, index) => {
        const number = sellerIndex * 3 + index;
        const firstPerson = 1000 + number * 40;
        return newWorker({
          deployment,
          seller,
          firstPerson,
          people: 40,
          random: random.fork(number),
          report,
          used,
        });
      }),
    );
    const people = Array.from({ length: 12 * 40 }, (_, index) => 1000 + index);
    await deployment.register(people.map((index) => `+98955${String(index).padStart(7, '0')}`));

    deployment.proxy.plan(faultOf(random.fork(99)));
    const steps = Math.ceil((scale * 10_000) / 12);
    await Promise.all(
      workersOf.flat().map(async (worker) => {
        for (let step = 0; step < steps; step += 1) await worker.step();
      }),
    );
    const signIns = Math.ceil(scale * 400);
    for (let index = 0; index < signIns; index += 4) {
      await Promise.all(
        sellers.map((seller, offset) =>
          signIn(
            deployment,
            { key: seller.key, phone: `+98955${String(3_000_000 + index + offset)}` },
            { report, used },
          ),
        ),
      );
    }
    deployment.proxy.plan(() => undefined);
    for (const [fault, count] of deployment.proxy.counts)
      report.tried(`database calls with the fault: ${fault}`, count);
    await Promise.all(workersOf.flat().map((worker) => worker.settle()));
    for (const [index, seller] of sellers.entries()) {
      await checkPages(deployment, seller, workersOf[index] ?? [], report);
    }
  },
};
