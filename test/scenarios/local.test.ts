/** Every scenario against the whole service in its own process, as `npm start` runs it. */

import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { testNationalId } from '#shared/providers/test-identities.ts';
import { peopleMade } from '#test/generated-people.ts';
import { localTarget } from '#test/service/local-target.ts';
import { codesIn, foundIn, spellings, type Traces, tracesOf } from '#test/service/privacy.ts';
import { refusedKeyTests } from '#test/service/refused-keys.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';
import { everyScenario } from './every-scenario.ts';
import type { Target } from './target.ts';

let service: RunningService;
let target: Target;

beforeAll(async () => {
  service = await startRunningService();
  target = localTarget(service.demo);
});

afterAll(async () => {
  await service.stop();
  await removeDataFolder(service.folder);
});

describe('the local service', () => {
  refusedKeyTests(() => service);
  everyScenario({ target: () => target });
});

describe('after all scenarios', () => {
  let traces: Traces;
  let nationalIds: string[];
  let phones: string[];
  let codes: string[];
  let keys: string[];

  beforeAll(async () => {
    traces = await tracesOf(service);
    const { demo } = service;
    nationalIds = [
      ...peopleMade.map(({ national_id }) => national_id),
      ...(['not_found', 'deceased', 'not_owner'] as const).map((outcome) => testNationalId(outcome)),
    ].flatMap(spellings);
    // Without the prefix +98, so that 0098 and 0 are found too.
    phones = peopleMade.map(({ phone }) => phone.slice(3)).flatMap(spellings);
    codes = peopleMade.map(({ phone }) => sandboxCode(phone));
    keys = [...Object.values(demo.keys), demo.other_seller.key];
  });

  it('the search finds names that are stored, in traces that are not empty', () => {
    expect(nationalIds.length).toBeGreaterThan(60);
    expect(codes.length).toBeGreaterThan(30);
    expect(traces.log.split('\n').length).toBeGreaterThan(500);
    expect(traces.terminal.split('\n').length).toBeGreaterThan(500);
    const names = peopleMade.map(({ display_name }) => display_name);
    expect(foundIn(traces.database, names).length).toBeGreaterThan(15);
    expect(foundIn(traces.items, names).length).toBeGreaterThan(15);
  });

  it('no national id is in the terminal, the log, the database files or the table', () => {
    expect(foundIn(traces.terminal, nationalIds)).toEqual([]);
    expect(foundIn(traces.log, nationalIds)).toEqual([]);
    expect(foundIn(traces.database, nationalIds)).toEqual([]);
    expect(foundIn(traces.items, nationalIds)).toEqual([]);
  });

  it('no phone is in the terminal or the log', () => {
    expect(foundIn(traces.terminal, phones)).toEqual([]);
    expect(foundIn(traces.log, phones)).toEqual([]);
  });

  it('no code is in the terminal, the log or the table', () => {
    expect(codesIn(traces.terminal, codes)).toEqual([]);
    expect(codesIn(traces.log, codes)).toEqual([]);
    expect(codesIn(traces.items, codes)).toEqual([]);
  });

  it('no key is in the terminal after its first page, the log, the database files or the table', () => {
    expect(foundIn(traces.terminal, keys)).toEqual([]);
    expect(foundIn(traces.log, keys)).toEqual([]);
    expect(foundIn(traces.database, keys)).toEqual([]);
    expect(foundIn(traces.items, keys)).toEqual([]);
  });
});
