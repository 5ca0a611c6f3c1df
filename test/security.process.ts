/** Attacks on every row of the route table, over HTTP against the whole service. Those on bodies: test/shared/http/body-attacks.test.ts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testNationalId } from '#shared/providers/test-identities.ts';
import { newPhone } from '#test/generated-people.ts';
import { registerBuyer, registeredPerson } from '#test/scenarios/buyers.ts';
import { type CallOptions, call, expectProblem, type Reply, withoutRequestId } from '#test/scenarios/call.ts';
import type { Target } from '#test/scenarios/target.ts';
import { MARKER } from '#test/security/attack.ts';
import { keyAttacks } from '#test/security/key-attacks.ts';
import { disguiseAttacks, pathAttacks } from '#test/security/path-attacks.ts';
import { tokenAttacks } from '#test/security/token-attacks.ts';
import { localTarget } from '#test/service/local-target.ts';
import { foundIn } from '#test/service/privacy.ts';
import { useService } from '#test/service/use-service.ts';

const service = useService({ args: ['--memory'] });
let target: Target;
let token: string;

beforeAll(async () => {
  target = localTarget(service.demo);
  token = await registerBuyer(target, newPhone());
});

const options = { target: () => target, token: () => token };
keyAttacks(options);
pathAttacks(options);
disguiseAttacks(options);
tokenAttacks(options);

describe('the users of another seller', () => {
  const asSeller = (path: string, options: CallOptions = {}) =>
    call(target, path, { key: target.keys.professional, ...options });
  const asOther = (path: string, options: CallOptions = {}) =>
    call(target, path, { key: target.otherSeller.key, ...options });

  const link = async (body: object, as = asSeller): Promise<string> => {
    const linked = await as('/v1/users', { body });
    expect(linked.status).toBe(201);
    return linked.json<{ id: string }>().id;
  };

  it('are in no list and are found by no phone and no external id', async () => {
    const person = { ...(await registeredPerson(target)), external_id: 'order:foreign' };
    await link(person);
    for (const query of ['', `?phone=${encodeURIComponent(person.phone)}`, '?external_id=order:foreign']) {
      const { data } = (await asOther(`/v1/users${query}`)).json<{ data: { phone: string }[] }>();
      expect(data.filter(({ phone }) => phone === person.phone)).toEqual([]);
    }
    expectProblem(await asOther(`/v1/users?seller_id=${target.sellerId}`), 'validation_failed');
  });

  it('get the same bytes as unknown and removed users at every operation on one user', async () => {
    const person = await registeredPerson(target);
    const { display_name, ...claim } = person;
    const [foreign, removed] = [await link(person), await link(await registeredPerson(target))];
    const unknown = `${foreign.slice(0, -1)}${foreign.endsWith('a') ? 'b' : 'a'}`;
    expect((await asSeller(`/v1/users/${removed}`, { method: 'DELETE' })).status).toBe(204);
    const requests: readonly (readonly [string, CallOptions])[] = [
      ['', {}],
      ['', { method: 'DELETE' }],
      ['', { method: 'PATCH', body: { display_name } }],
      ['/checks', { body: claim }],
    ];
    const replies: Reply[] = [];
    for (const [rest, options] of requests) {
      for (const id of [foreign, removed, unknown])
        replies.push(await asOther(`/v1/users/${id}${rest}`, options));
      replies.push(await asSeller(`/v1/users/${unknown}${rest}`, options));
    }
    for (const reply of replies) expectProblem(reply, 'user_not_found');
    expect(new Set(replies.map(withoutRequestId)).size).toBe(1);
    expect((await asSeller(`/v1/users/${foreign}`)).json()).toMatchObject({ id: foreign, display_name });
  });

  it('keep no seller from linking the same person with the same external id', async () => {
    const person = { ...(await registeredPerson(target)), external_id: 'order:both' };
    const ids = [await link(person), await link(person, asOther)];
    expect(new Set(ids).size).toBe(2);
  });

  it('use up no checks of a person but those of their own seller', async () => {
    const body = { ...(await registeredPerson(target)), national_id: testNationalId('not_found', 7) };
    const codes = [];
    for (let tries = 0; tries < 6; tries += 1)
      codes.push((await asSeller('/v1/users', { body })).json<{ code: string }>().code);
    expect(codes.at(-1)).toBe('too_many_attempts');
    expectProblem(await asOther('/v1/users', { body }), 'identity_mismatch');
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
