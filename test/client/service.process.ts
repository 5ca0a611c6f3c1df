/** The client's source against the whole local service. */

import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { newPerson, newPhone } from '#test/generated-people.ts';
import { registeredPerson } from '#test/scenarios/buyers.ts';
import { localTarget } from '#test/service/local-target.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';
import { type BuyerLinkingClient, buyerLinking, isProblem } from '../../client/src/index.ts';

let service: RunningService;
let client: BuyerLinkingClient;

beforeAll(async () => {
  service = await startRunningService({ args: ['--memory'] });
  client = buyerLinking({ baseUrl: service.demo.base_url, apiKey: service.demo.keys.professional });
});

afterAll(async () => {
  await service?.stop();
  await removeDataFolder(service?.folder);
});

const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the client against the running service', () => {
  it('links a buyer once, however often it is called', async () => {
    const person = await registeredPerson(localTarget(service.demo));
    const first = await client.linkBuyer(person);
    const again = await client.linkBuyer(person);
    expect([first.isNew, again.isNew]).toEqual([true, false]);
    expect(again.user).toEqual(first.user);
  });

  it('reads every user in the order of linking, over several pages', async () => {
    const target = localTarget(service.demo);
    for (let count = 0; count < 4; count += 1) await client.linkBuyer(await registeredPerson(target));
    const all: string[] = [];
    for await (const { id } of client.users()) all.push(id);
    const byPage: string[] = [];
    let page = await client.listUsers({ page_size: 2 });
    expect(page).toMatchObject({ page: 1, total: all.length });
    byPage.push(...page.data.map(({ id }) => id));
    while (page.next_after !== null) {
      page = await client.listUsers({ page_size: 2, after: page.next_after });
      byPage.push(...page.data.map(({ id }) => id));
    }
    expect(byPage).toEqual(all);
    expect(new Set(all).size).toBe(page.total);
  });

  const foundBy = async (query: { phone: string } | { external_id: string }) =>
    (await client.listUsers(query)).data;

  it('reads a user by id, by phone and by external id, corrects it and removes it', async () => {
    const person = await registeredPerson(localTarget(service.demo));
    const { user } = await client.linkBuyer({ ...person, external_id: 'order:ts-1' });
    await expect(client.getUser(user.id)).resolves.toEqual(user);
    await expect(foundBy({ external_id: 'order:ts-1' })).resolves.toEqual([user]);
    await expect(foundBy({ phone: person.phone })).resolves.toEqual([user]);
    const corrected = { ...user, display_name: 'Sara Rezaei', external_id: null };
    const update = { display_name: 'Sara Rezaei', external_id: null };
    const { national_id, birth_date, phone, ...withoutPerson } = corrected;
    await expect(client.updateUser(user.id, update)).resolves.toEqual(withoutPerson);
    await expect(foundBy({ phone: person.phone })).resolves.toEqual([corrected]);
    const { display_name, ...claimed } = person;
    await expect(client.checkUser(user.id, claimed)).resolves.toEqual(corrected);
    await client.updateUser(user.id, { external_id: 'order:ts-1' });
    await client.removeUser(user.id);
    await client.removeUser(user.id);
    await expect(foundBy({ phone: person.phone })).resolves.toEqual([]);
    await expect(foundBy({ external_id: 'order:ts-1' })).resolves.toEqual([]);
    await expect(client.getUser(user.id)).rejects.toMatchObject({ code: 'user_not_found' });
    const again = await client.linkBuyer(person);
    expect([again.isNew, again.user.id === user.id]).toEqual([true, false]);
  });

  it('throws the problem of an error response, with its errors and Retry-After', async () => {
    const unknown = await caught(client.linkBuyer(newPerson()));
    expect(isProblem(unknown, 'buyer_not_registered')).toBe(true);

    const invalid = await caught(client.linkBuyer({ ...newPerson(), national_id: '1' }));
    const errors = isProblem(invalid, 'validation_failed') ? invalid.problem.errors : [];
    expect(errors).toEqual([{ pointer: '#/national_id', code: 'invalid', detail: expect.any(String) }]);

    const phone = newPhone();
    await client.sendCode({ phone });
    const tooSoon = await caught(client.sendCode({ phone }));
    expect(tooSoon).toMatchObject({
      code: 'resend_too_soon',
      reason: 'cool_down',
      retryAfterSeconds: expect.any(Number),
    });
  });

  it('confirms a person who has the phone of another user by now, and removes that user', async () => {
    const target = localTarget(service.demo);
    const [person, earlier] = [await registeredPerson(target), await registeredPerson(target)];
    const { user } = await client.linkBuyer(person);
    const { user: former } = await client.linkBuyer(earlier);
    const confirmed = await client.confirmBuyer({ ...person, phone: earlier.phone });
    expect([confirmed.isNew, confirmed.user.id, confirmed.user.phone]).toEqual([
      false,
      user.id,
      earlier.phone,
    ]);
    await expect(client.findByPhone(earlier.phone)).resolves.toEqual({
      users: [confirmed.user],
      daysSinceCheck: 0,
    });
    await expect(client.getUser(former.id)).rejects.toMatchObject({ code: 'user_not_found' });
  });

  it('reads the events after a number, page by page, and throws events_expired for a number that never was', async () => {
    const { base_url: baseUrl, keys } = service.demo;
    const reader = buyerLinking({ baseUrl, apiKey: keys.events });
    const { last_sequence: last } = await reader.listEvents({ limit: 1 });
    const { user } = await client.linkBuyer(await registeredPerson(localTarget(service.demo)));
    await client.removeUser(user.id);
    const first = await reader.listEvents({ after: last, limit: 1 });
    const second = await reader.listEvents({ after: last + 1 });
    expect([...first.data, ...second.data]).toMatchObject([
      { sequence: last + 1, type: 'user.linked', data: { user_id: user.id } },
      { sequence: last + 2, type: 'user.removed', data: { user_id: user.id, reason: 'seller' } },
    ]);
    expect([first.has_more, second.has_more, second.last_sequence]).toEqual([true, false, last + 2]);
    const expired = await caught(reader.listEvents({ after: last + 3 }));
    expect(isProblem(expired, 'events_expired')).toBe(true);
  });

  it('reads its key and what it used, and rotates it without an end of the old secret', async () => {
    const { base_url: baseUrl, keys } = service.demo;
    const old = buyerLinking({ baseUrl, apiKey: keys.rotate });
    const key = await old.key();
    expect(key).toMatchObject({ plan: 'professional', scopes: ['users:read', 'key:rotate'] });
    const { secret, last_four, old_secret_expires_at } = await old.rotateKey({ grace_hours: 1 });
    const read = await buyerLinking({ baseUrl, apiKey: secret }).key();
    expect([read.id, read.last_four]).toEqual([key.id, last_four]);
    expect(read.secrets.map(({ expires_at }) => expires_at)).toEqual([null, old_secret_expires_at]);
    await expect(old.rotateKey()).rejects.toMatchObject({ code: 'too_many_secrets' });
    const { data } = await old.usage({ days: 1 });
    expect(data.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(0);
  });

  it('exchanges a code for a token once', async () => {
    const phone = newPhone();
    const sent = client.sendCode({ phone, locale: 'en' });
    await expect(sent).resolves.toEqual({ expires_in: 300, resend_after: 60 });
    const token = await client.verifyCode({ phone, code: sandboxCode(phone) });
    expect(token).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    await expect(client.verifyCode({ phone, code: sandboxCode(phone) })).rejects.toMatchObject({
      code: 'code_rejected',
    });
  });
});
