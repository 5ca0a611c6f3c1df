import { buyerLinking } from '../../client/src/index.ts';
import { apiKey, baseUrl, broken, clientOf, json, problemOf } from './fake-service.ts';

/** The response of a page with the events of these numbers. */
const pageOf = (sequences: readonly number[], hasMore = false) =>
  json(200, {
    data: sequences.map((sequence) => ({
      sequence,
      type: 'user.linked',
      occurred_at: '2026-11-21T08:30:00.000Z',
      data: { user_id: `usr_${sequence}` },
    })),
    last_sequence: 9,
    has_more: hasMore,
  });

/** A body that breaks off in the middle. */
const brokenBody = (): Response =>
  new Response(
    new ReadableStream({
      start(stream) {
        stream.enqueue(new TextEncoder().encode('{"data":['));
        stream.error(new TypeError('terminated'));
      },
    }),
  );

const timedOut = (): Response => {
  throw new DOMException('The operation was aborted due to timeout', 'TimeoutError');
};

/** Follows the events of a client until so many were seen. Returns their numbers and what was sent. */
const follow = async ({ client, sent }: ReturnType<typeof clientOf>, count: number, after?: number) => {
  const controller = new AbortController();
  const seen: number[] = [];
  for await (const { sequence } of client.events({ after }, { signal: controller.signal })) {
    seen.push(sequence);
    if (seen.length === count) controller.abort();
  }
  return { seen, queries: sent.map(({ url }) => new URL(url).search) };
};

describe('the events', () => {
  it('are read from the oldest one without a number, and each page after the number of the last event', async () => {
    const service = clientOf(pageOf([3, 4], true), pageOf([5], true), pageOf([6]));
    await expect(follow(service, 4)).resolves.toEqual({
      seen: [3, 4, 5, 6],
      queries: ['', '?after=4', '?after=5'],
    });
    expect(service.waits).toEqual([]);
  });

  it('go on after the number that the caller stored, also 0', async () => {
    const service = clientOf(pageOf([1]));
    await expect(follow(service, 1, 0)).resolves.toEqual({ seen: [1], queries: ['?after=0'] });
  });

  it('are not skipped when a page without events names a newer number', async () => {
    const service = clientOf(pageOf([]), pageOf([9]));
    await expect(follow(service, 1, 8)).resolves.toEqual({ seen: [9], queries: ['?after=8', '?after=8'] });
  });

  it('are asked for 1 s after an event, then half as often with each page without events, down to every 30 s', async () => {
    const empty = Array.from({ length: 7 }, () => pageOf([]));
    const service = clientOf(pageOf([1]), ...empty, pageOf([2]), pageOf([3]));
    await follow(service, 3);
    expect(service.waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 1000]);
  });

  it.each<[string, () => Response]>([
    ['an exceeded rate limit', problemOf('rate_limit_exceeded', { 'Retry-After': '70' })],
    ['an unavailable service', problemOf('service_unavailable', { 'Retry-After': '70' })],
    ['a lost connection', broken],
    ['a timeout', timedOut],
    ['a connection that is lost in the middle of the body', brokenBody],
  ])('survive more failures in a row than a call retries: %s', async (_title, failure) => {
    const service = clientOf(pageOf([1]), ...Array.from({ length: 9 }, () => failure), pageOf([2]));
    const { seen, queries } = await follow(service, 2);
    expect(seen).toEqual([1, 2]);
    expect(queries.slice(1)).toEqual(Array.from({ length: 10 }, () => '?after=1'));
    expect(service.observed).toHaveLength(9);
  });

  it('wait for Retry-After, however long it is', async () => {
    const service = clientOf(problemOf('rate_limit_exceeded', { 'Retry-After': '70' }), pageOf([1]));
    await follow(service, 1);
    expect(service.waits).toEqual([70_250]);
  });

  it.each(['events_expired', 'insufficient_scope'] as const)('end with the error %s', async (code) => {
    const service = clientOf(pageOf([1]), problemOf(code));
    await expect(follow(service, 2)).rejects.toMatchObject({ code });
  });
});

describe('an abort', () => {
  it('ends the iteration before the next event of the page', async () => {
    const service = clientOf(pageOf([1, 2, 3], true));
    await expect(follow(service, 1)).resolves.toMatchObject({ seen: [1] });
    expect(service.sent).toHaveLength(1);
  });

  it('ends the iteration while it waits', async () => {
    const controller = new AbortController();
    const waiting = buyerLinking({
      baseUrl,
      apiKey,
      fetch: async () => pageOf([])(),
      sleep: (_ms, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          controller.abort();
        }),
    });
    await expect(waiting.events({}, { signal: controller.signal }).next()).resolves.toMatchObject({
      done: true,
    });
  });

  it('ends the iteration while it reads', async () => {
    const controller = new AbortController();
    const reading = buyerLinking({
      baseUrl,
      apiKey,
      fetch: async () => {
        controller.abort();
        return broken();
      },
    });
    await expect(reading.events({}, { signal: controller.signal }).next()).resolves.toMatchObject({
      done: true,
    });
  });

  it('before the start ends the iteration without an event', async () => {
    const { client } = clientOf(broken);
    const events = client.events({}, { signal: AbortSignal.abort() });
    await expect(events.next()).resolves.toEqual({ done: true, value: undefined });
  });
});
