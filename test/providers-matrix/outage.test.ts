import { setTimeout as pause } from 'node:timers/promises';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { type MatrixService, startMatrixService } from './service.ts';

/** A registry dies while 200 links are being made, and comes back. */
const lines = quietLog();
let service: MatrixService;
beforeEach(async () => {
  lines.length = 0;
  service = await startMatrixService();
});
afterEach(() => service.stop());

const PEOPLE = 200;
/** It dies when so many of them have been asked about. */
const ASKED_BEFORE = 60;
const OPEN_SECONDS = 10;
const PATIENT_MS = 15_000;

const until = async (condition: () => boolean): Promise<void> => {
  const deadline = AbortSignal.timeout(20_000);
  while (!condition()) await pause(1, undefined, { signal: deadline });
};

const asked = (provider: 'jibit' | 'zohal') => service.simulators.calls()[provider].identity ?? 0;
const statesOf = (provider: string) =>
  lines
    .map((line) => JSON.parse(line))
    .filter((line) => line.event === 'circuit_changed' && line.provider === provider)
    .map(({ state }) => state);

const newBuyers = () => Promise.all(Array.from({ length: PEOPLE }, () => service.newBuyer()));
const createAll = (people: readonly object[]) =>
  Promise.all(people.map((person) => service.call('/v1/users', person)));

/** What is stored is exactly what was acknowledged: no user more, none less, none half. */
const expectStored = async (acknowledged: readonly { json: { id: string } }[]) => {
  const users = await service.listAll();
  expect(users.map(({ id }) => id).sort()).toEqual(acknowledged.map(({ json }) => json.id).sort());
  expect(await service.countUsers()).toBe(acknowledged.length);
  const items = await service.items();
  expect(items.filter((item) => item.includes('"PERSON"'))).toHaveLength(acknowledged.length);
  expect(items.filter((item) => item.includes('USERS#'))).toHaveLength(acknowledged.length);
};

/** Only a provider that hangs costs an attempt its whole time, so only there it is short. */
const DEATHS = [
  ['connection_refused', PATIENT_MS],
  ['reset', PATIENT_MS],
  ['slow_headers', 3000],
] as const;

it.each(DEATHS)(
  '%s: loses nothing acknowledged, stores nothing half, answers 503, and recovers by itself',
  async (fault, attemptTimeoutMs) => {
    service.use({ identity: ['jibit'], options: { attemptTimeoutMs } });
    const people = await newBuyers();

    const creating = createAll(people);
    await until(() => asked('jibit') >= ASKED_BEFORE);
    await service.simulators.faults.set('jibit', fault);
    const replies = await creating;

    const linked = replies.filter(({ status }) => status === 201);
    const refused = replies.filter(({ status }) => status !== 201);
    expect(linked.length).toBeGreaterThan(0);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(({ status, json }) => `${status} ${json.code}`))).toEqual(
      new Set(['503 verification_unavailable']),
    );
    expect(refused.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true);
    await expectStored(linked);
    expect(statesOf('jibit')).toContain('open');

    // While it lasts a caller is answered without the provider being asked.
    const unlinked = people.filter((_person, index) => replies[index]?.status !== 201);
    const before = service.simulators.calls().jibit;
    expect((await service.call('/v1/users', unlinked[0])).status).toBe(503);
    expect(service.simulators.calls().jibit).toEqual(before);

    await service.simulators.faults.set('jibit', undefined);
    service.clock.advance(OPEN_SECONDS);
    // One after another at first: a single call probes, and the others would be refused meanwhile.
    const [probe, ...rest] = unlinked;
    expect((await service.call('/v1/users', probe)).status).toBe(201);
    const retried = await createAll(rest);
    expect(new Set(retried.map(({ status }) => status))).toEqual(new Set([201]));
    expect(await service.countUsers()).toBe(PEOPLE);
    expect(statesOf('jibit')).toContain('closed');
  },
);

it('with a second registry configured, refuses nobody', async () => {
  service.use({ identity: ['jibit', 'zohal'], options: { attemptTimeoutMs: PATIENT_MS } });
  const people = await newBuyers();

  const creating = createAll(people);
  await until(() => asked('jibit') >= ASKED_BEFORE);
  await service.simulators.faults.set('jibit', 'connection_refused');
  const replies = await creating;

  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  await expectStored(replies);
  expect(asked('zohal')).toBeGreaterThan(0);
});
