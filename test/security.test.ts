/** Attacks on every row of the route table, over HTTP against the whole service. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allRoutes } from '#shared/routes.ts';
import { newPhone } from '#test/generated-people.ts';
import { registerBuyer, registeredPerson } from '#test/scenarios/buyers.ts';
import { call, expectProblem, type Reply, withoutRequestId } from '#test/scenarios/call.ts';
import type { Target } from '#test/scenarios/target.ts';
import { MARKER } from '#test/security/attack.ts';
import { routeAttacks } from '#test/security/route-attacks.ts';
import { localTarget } from '#test/service/local-target.ts';
import { foundIn } from '#test/service/privacy.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';

let service: RunningService;
let target: Target;
let token: string;

beforeAll(async () => {
  service = await startRunningService({ args: ['--memory'] });
  target = localTarget(service.demo);
  token = await registerBuyer(target, newPhone());
});

afterAll(async () => {
  await service.stop();
  await removeDataFolder(service.folder);
});

routeAttacks({ routes: allRoutes, target: () => target, token: () => token });

describe("another seller's users", () => {
  it('are not listed for any query', async () => {
    const { key } = target.otherSeller;
    const reply = await call(target, '/v1/users', { key });
    expect(reply.json<{ total: number }>().total).toBe(0);
    expectProblem(await call(target, `/v1/users?seller_id=${target.sellerId}`, { key }), 'validation_failed');
  });

  it('get the same bytes as unknown and removed users, when they are read or removed', async () => {
    const { keys, otherSeller } = target;
    const link = async (): Promise<string> => {
      const body = await registeredPerson(target);
      const linked = await call(target, '/v1/users', { key: keys.professional, body });
      expect(linked.status).toBe(201);
      return `/v1/users/${linked.json<{ id: string }>().id}`;
    };
    const [foreign, removed] = [await link(), await link()];
    const unknown = `${foreign.slice(0, -1)}${foreign.endsWith('a') ? 'b' : 'a'}`;
    expect((await call(target, removed, { key: keys.professional, method: 'DELETE' })).status).toBe(204);

    const replies: Reply[] = [
      await call(target, foreign, { key: otherSeller.key }),
      await call(target, foreign, { key: otherSeller.key, method: 'DELETE' }),
      await call(target, removed, { key: keys.professional }),
      await call(target, removed, { key: otherSeller.key, method: 'DELETE' }),
      await call(target, unknown, { key: keys.professional }),
      await call(target, unknown, { key: keys.professional, method: 'DELETE' }),
    ];
    for (const reply of replies) expectProblem(reply, 'user_not_found');
    expect(new Set(replies.map(withoutRequestId)).size).toBe(1);
    expect((await call(target, foreign, { key: keys.professional })).status).toBe(200);
  });
});

describe('the log after the attacks', () => {
  it('has the line of a request and none of its values', async () => {
    const person = await registeredPerson(target);
    const body = { ...person, display_name: `${MARKER} name` };
    const reply = await call(target, '/v1/users', { key: target.keys.professional, body });
    expect(reply.status).toBe(201);
    const log = await readFile(join(service.folder, 'service.log'), 'utf8');
    const lines = log.split('\n').filter((line) => line.includes(reply.headers.get('x-request-id') ?? '-'));
    expect(lines.some((line) => line.includes('"event":"request_completed"'))).toBe(true);
    const values = [MARKER, person.national_id, person.phone.slice(3), ...Object.values(target.keys)];
    expect(foundIn(log, values)).toEqual([]);
  });
});
