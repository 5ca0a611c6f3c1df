import { setImmediate as nextTurn } from 'node:timers/promises';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { type MatrixService, type Reply, SELLERS, startMatrixService } from './service.ts';

/** A registry fails while 24 users of 20 sellers are linked, and recovers. */
const lines = quietLog();
let service: MatrixService;
beforeEach(async () => {
  lines.length = 0;
  service = await startMatrixService();
});
afterEach(() => service.stop());

const PEOPLE = 24;
/** The number of identity checks after which the registry fails. */
const CHECKS_BEFORE_FAULT = 8;
const OPEN_SECONDS = 10;

const identityChecks = (provider: 'jibit' | 'zohal') => service.simulators.calls()[provider].identity ?? 0;
/** The names of the events in the log of one request. Calls of earlier requests may still end meanwhile. */
const eventsOf = ({ headers }: Reply) =>
  lines
    .map((line) => JSON.parse(line))
    .filter((line) => line.request_id === headers.get('x-request-id'))
    .map(({ event }) => event);
/** Why a provider failed, as its alarm counts it. */
const reasonsOf = (provider: string) =>
  new Set(
    lines
      .map((line) => JSON.parse(line))
      .filter((line) => line.event === 'provider_failed' && line.provider === provider)
      .map(({ reason }) => reason),
  );

interface Link {
  readonly sellerId: string;
  readonly person: object;
}

const newLinks = (): Promise<Link[]> =>
  Promise.all(
    Array.from({ length: PEOPLE }, async (_, index) => ({
      sellerId: SELLERS[index % SELLERS.length] ?? '',
      person: await service.newBuyer(),
    })),
  );

const create = ({ sellerId, person }: Link) => service.call('/v1/users', person, sellerId);
const createAll = (links: readonly Link[]) => Promise.all(links.map(create));

/** Creates all links, and sets the fault of jibit after some checks. */
const createDuring = async (links: readonly Link[], setFault: () => Promise<void>): Promise<Reply[]> => {
  const creating = createAll(links);
  while (identityChecks('jibit') < CHECKS_BEFORE_FAULT) await nextTurn();
  await setFault();
  return creating;
};

/** Exactly the acknowledged users are stored, and nothing of any other person. */
const expectStored = async (acknowledged: readonly Reply[]) => {
  expect([...(await service.userIds())].sort()).toEqual(acknowledged.map(({ json }) => json.id).sort());
  const items = await service.items();
  expect(items.filter((item) => item.includes('"PERSON"'))).toHaveLength(acknowledged.length);
  expect(items.filter((item) => item.includes('USERS#'))).toHaveLength(acknowledged.length);
};

/** Timeouts that a test controls: no attempt times out until `expire`; after it every attempt does so after 50 ms. */
const controlledTimeouts = () => {
  const attempts: AbortController[] = [];
  const timeout = () => new DOMException('the attempt has timed out', 'TimeoutError');
  let expired = false;
  return {
    timeoutSignal: () => {
      if (expired) return AbortSignal.timeout(50);
      const attempt = new AbortController();
      attempts.push(attempt);
      return attempt.signal;
    },
    expire() {
      expired = true;
      for (const attempt of attempts.splice(0)) attempt.abort(timeout());
    },
    restore() {
      expired = false;
    },
  };
};

describe.each(['connection_refused', 'reset', 'slow_headers'] as const)('an outage by %s', (fault) => {
  it('loses nothing acknowledged, stores nothing else, returns 503, and ends by itself', async () => {
    const timeouts = controlledTimeouts();
    service.use({ identity: ['jibit'], options: { timeoutSignal: timeouts.timeoutSignal } });
    const links = await newLinks();

    const replies = await createDuring(links, async () => {
      await service.simulators.setFault('jibit', fault);
      timeouts.expire();
    });

    const created = replies.filter(({ status }) => status === 201);
    const failed = replies.filter(({ status }) => status !== 201);
    expect(created.length).toBeGreaterThan(0);
    expect(failed.length).toBeGreaterThan(0);
    expect(new Set(failed.map(({ status, json }) => `${status} ${json.code}`))).toEqual(
      new Set(['503 verification_unavailable']),
    );
    expect(failed.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true);
    await expectStored(created);
    expect(reasonsOf('jibit')).toEqual(new Set(['circuit_open']));

    // While the circuit is open, the provider is not called.
    const [probe, ...rest] = links.filter((_, index) => replies[index]?.status !== 201) as [Link, ...Link[]];
    const refused = await create(probe);
    expect(refused.status).toBe(503);
    expect(eventsOf(refused)).toEqual(['request_completed']);

    await service.simulators.setFault('jibit', undefined);
    timeouts.restore();
    service.clock.advance(OPEN_SECONDS);
    // One call probes first: concurrent ones would be rejected meanwhile.
    const linked = await create(probe);
    expect(linked.status).toBe(201);
    expect(eventsOf(linked)).toContain('provider_called');
    expect(new Set((await createAll(rest)).map(({ status }) => status))).toEqual(new Set([201]));
    expect(await service.userIds()).toHaveLength(PEOPLE);
  });
});

it('links every person during an outage of the first registry when a second one is configured', async () => {
  service.use({ identity: ['jibit', 'zohal'] });
  const replies = await createDuring(await newLinks(), () =>
    service.simulators.setFault('jibit', 'connection_refused'),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  await expectStored(replies);
  expect(identityChecks('zohal')).toBeGreaterThan(0);
});
