/** Every scenario against the whole service in its own process, as `npm start` runs it. */

import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { testNationalId } from '#shared/providers/test-identities.ts';
import { peopleMade } from '#test/generated-people.ts';
import { localTarget } from '#test/service/local-target.ts';
import { codesIn, foundIn, spellings, tracesOf } from '#test/service/privacy.ts';
import { refusedKeyTests } from '#test/service/refused-keys.ts';
import { useService } from '#test/service/use-service.ts';
import { everyScenario } from './every-scenario.ts';
import type { Target } from './target.ts';

const service = useService();
let target: Target;

beforeAll(() => {
  target = localTarget(service.demo);
});

/** The search finds names that are stored. So it would find the rest too. */
const expectTraces = ({ terminal, log, database, items }: Awaited<ReturnType<typeof tracesOf>>): void => {
  const lines = [terminal, log].map((text) => text.split('\n').length);
  expect(Math.min(...lines)).toBeGreaterThan(300);
  const names = peopleMade.map(({ display_name }) => display_name);
  expect(foundIn(database, names).length).toBeGreaterThan(10);
  expect(foundIn(items, names).length).toBeGreaterThan(10);
};

/**
 * No national id, code or key is in the terminal after its first page, the log, the database files or the table, and no phone in the terminal or the log.
 * A code is looked for in texts only: in a file its six digits are chance.
 */
const expectNothingPersonal = async (): Promise<void> => {
  const traces = await tracesOf(service);
  expectTraces(traces);
  const { terminal, log, database, items } = traces;
  const nationalIds = [
    ...peopleMade.map(({ national_id }) => national_id),
    ...(['not_found', 'deceased', 'not_owner'] as const).map((outcome) => testNationalId(outcome)),
  ].flatMap(spellings);
  // Without the prefix +98, so that 0098 and 0 are found too.
  const phones = peopleMade.map(({ phone }) => phone.slice(3)).flatMap(spellings);
  const codes = peopleMade.map(({ phone }) => sandboxCode(phone));
  const keys = [...Object.values(service.demo.keys), service.demo.other_seller.key];
  expect(nationalIds.length).toBeGreaterThan(30);
  expect(codes.length).toBeGreaterThan(15);
  for (const where of [terminal, log, database, items])
    expect(foundIn(where, [...nationalIds, ...keys])).toEqual([]);
  for (const where of [terminal, log]) expect(foundIn(where, phones)).toEqual([]);
  for (const where of [terminal, log, items]) expect(codesIn(where, codes)).toEqual([]);
};

describe('the local service', () => {
  refusedKeyTests(() => service);
  everyScenario({ target: () => target });

  // Whatever the order of the tests was.
  afterAll(expectNothingPersonal);
});
