import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { hashApiKey, newApiKey } from '#shared/api-keys/secret.ts';
import { codeSends } from '#shared/one-time-codes/store.ts';
import { type Permissions, permissionsOf } from '#shared/route.ts';
import { allRoutes, type RouteName, routes } from '#shared/routes.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { endedLinkKey, keySecretKey, personKey, sellerKey } from '#shared/table/keys.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { linkNewUser } from '#test/functions/users-on.ts';
import { newPerson } from '#test/generated-people.ts';
import { putApiKey } from '#test/shared/api-keys/put-api-key.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { accessesOf, inconsistentReads, updatedAttributes } from '#test/table/table-accesses.ts';
import { useTable } from '#test/table/use-table.ts';
import {
  APP,
  type DeployedFunctions,
  ISSUERS,
  useDeployedFunctions,
  type Variant,
} from './deployed-functions.ts';
import type { Sent } from './gateway-event.ts';

/** A request, and what it may cost. */
interface Budget {
  readonly request: string;
  readonly status: number;
  /** The calls, the rate limit included. Those of a row run side by side; each row waits for the one before. */
  readonly rounds: readonly (readonly string[])[];
  /** `plain` by default. */
  readonly variant?: Variant;
  /** Prepares the request and returns what is sent. */
  readonly send: (functions: DeployedFunctions) => Promise<Sent> | Sent;
  readonly after?: (functions: DeployedFunctions) => Promise<void>;
}

const table = useTable();
const deployed = useDeployedFunctions(table);

const DAY_BEFORE_ROTATION = fixedSecret(JSON.stringify({ current: 'o'.repeat(40) }));

const SELLER = { caller: { sellerId: 'sel_test', keyId: 'key_seller' }, scopes: 'users:read' } as const;

const claimed = ({ display_name, ...rest }: ReturnType<typeof newPerson>) => rest;

/** Stores that the buyer of a person ended the link with sel_test long ago, under the older key of the hash secret. */
const putEndedLink = async ({ national_id, phone }: ReturnType<typeof newPerson>): Promise<void> => {
  const hashes = keyedHashesFrom(DAY_BEFORE_ROTATION);
  const { current: personHash } = await hashes.person('sel_test', national_id);
  const { current: phone_hash } = await hashes.phone(phone);
  for (const key of [personKey('sel_test', personHash), endedLinkKey(phone_hash, 'sel_test', personHash)]) {
    const Item = { ...key, phone_hash, ended_at: 1 };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  }
};

/** Stores a code of sel_test that the buyer of a phone has not redeemed. */
const putCode = async (phone: string): Promise<void> => {
  const codes = codeSends(table);
  const hashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: 'n'.repeat(40) })));
  const owner = { phoneHash: (await hashes.phone(phone)).current, audience: 'sel_test' };
  const { record } = await codes.read(owner, [], 0);
  const code = { mac: 'salt.mac', provider: 'kavenegar', now: Math.floor(Date.now() / 1000) };
  expect(await codes.recordSend(owner, record, code)).toBe(true);
};

const putTemplates = (sellerId: string): Promise<unknown> => {
  const Item = { ...sellerKey(sellerId), message_templates: { kavenegar: { fa: 'kaveh-books' } } };
  return table.client.send(new PutCommand({ TableName: table.name, Item }));
};

/** A linked person and the token of its buyer, and the sent search for its links. */
const searchOf = async ({ signIn, call }: DeployedFunctions, external_id?: string) => {
  const person = newPerson();
  const token = await signIn(person.phone);
  const linked = await call('create-user', { body: { ...person, external_id } });
  expect(linked.status).toBe(201);
  const { national_id, birth_date } = person;
  return { person, token, sent: { body: { national_id, birth_date }, ...token } };
};

/**
 * What each row may cost, by requests that together use every grant of the row. A budget that grows costs money and time on every request:
 * first look for a call that can be merged or left out.
 */
const BUDGETS: Readonly<Partial<Record<RouteName, readonly Budget[]>>> = {
  'list-users': [
    {
      request: 'a page',
      status: 200,
      rounds: [['BatchGet', 'Query', 'Update']],
      send: () => ({ query: { page: ['1'] } }),
    },
    {
      request: 'a page with removals before it',
      status: 200,
      rounds: [['BatchGet', 'Query', 'Update'], ['Get'], ['Query']],
      async send({ call }) {
        const caller = { sellerId: 'sel_removals' };
        const [removed] = [
          await linkNewUser(table, 'sel_removals'),
          await linkNewUser(table, 'sel_removals'),
        ];
        await linkNewUser(table, 'sel_removals');
        await call('delete-user', { pathParameters: { id: removed.id }, caller });
        const { total } = await userStore(table).listPage('sel_removals', 1, 1);
        return { query: { page: [String(total)], page_size: ['1'] }, caller };
      },
    },
    {
      request: 'the users after one',
      status: 200,
      rounds: [['BatchGet', 'Query', 'Update']],
      send: () => ({ query: { after: [`usr_${'0'.repeat(22)}`] } }),
    },
    {
      request: 'the users with a phone',
      status: 200,
      rounds: [['Query', 'Update'], ['BatchGet']],
      send: async ({ newUser }) => ({ query: { phone: [(await newUser()).person.phone] } }),
    },
    {
      request: 'the user with an external id',
      status: 200,
      rounds: [['Get', 'Update'], ['Get']],
      send: async ({ newUser }) => ({ query: { external_id: [(await newUser()).person.external_id] } }),
    },
  ],
  'get-user': [
    {
      request: 'a user',
      status: 200,
      rounds: [['Get', 'Update']],
      send: ({ newUser }) => newUser(),
    },
  ],
  'update-user': [
    {
      request: 'a correction of the name and the external id',
      status: 200,
      rounds: [['Update'], ['BatchGet'], ['TransactWrite']],
      send: async ({ newUser }) => ({
        ...(await newUser()),
        body: { display_name: 'Sara Rezaei', external_id: 'order:budget' },
      }),
    },
    {
      request: 'a correction that changes nothing',
      status: 200,
      rounds: [['Update'], ['BatchGet']],
      async send({ newUser }) {
        const { pathParameters, person } = await newUser();
        return { pathParameters, body: { external_id: person.external_id } };
      },
    },
  ],
  'delete-user': [
    {
      request: 'a user',
      status: 204,
      rounds: [['Update'], ['BatchGet'], ['TransactWrite']],
      send: ({ newUser }) => newUser(),
    },
    {
      request: 'a user that was removed before',
      status: 204,
      rounds: [['Update'], ['BatchGet']],
      async send({ newUser, call }) {
        const user = await newUser();
        expect(await call('delete-user', user)).toMatchObject({ status: 204 });
        return user;
      },
    },
  ],
  'create-user': [
    {
      request:
        'a new link: count, lookup, check of the person, paid check of the key, counts of the seller, link',
      status: 201,
      rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Get'], ['TransactWrite']],
      send: async ({ newBuyer }) => ({ body: await newBuyer() }),
    },
    {
      request: 'a new link of a seller in a stage with a ceiling of paid checks, which also counts its share',
      status: 201,
      variant: 'ceilings',
      rounds: [
        ['Update'],
        ['BatchGet'],
        ['Update'],
        ['Update'],
        ['Update'],
        ['Update'],
        ['Get'],
        ['TransactWrite'],
      ],
      send: async ({ newBuyer }) => ({ body: await newBuyer(), scopes: 'users:write' }),
    },
    {
      request:
        'a new link during a rotation of the hash secret, which checks the person under the older key too',
      status: 201,
      variant: 'rotation',
      rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Get'], ['TransactWrite']],
      send: async ({ newBuyer }) => ({ body: await newBuyer() }),
    },
    {
      request: 'an existing link',
      status: 200,
      rounds: [['Update'], ['BatchGet'], ['Get']],
      send: async ({ newUser }) => ({ body: (await newUser()).person }),
    },
    {
      request: 'an existing link with another birth date',
      status: 409,
      rounds: [['Update'], ['BatchGet'], ['Update']],
      send: async ({ newUser }) => ({ body: { ...(await newUser()).person, birth_date: '1359/1/1' } }),
    },
    {
      request: 'a refused link, which is counted before it is answered',
      status: 404,
      rounds: [['Update'], ['BatchGet'], ['Update']],
      send: () => ({ body: newPerson() }),
    },
    {
      request: 'an existing link while the refused links of the key are used up',
      status: 429,
      rounds: [['Update']],
      async send({ newUser }) {
        const { person } = await newUser();
        return { body: person, caller: { limits: JSON.stringify({ 'refused-links-per-hour': 0 }) } };
      },
    },
    {
      request: 'a link that its buyer ended under the older key of the hash secret',
      status: 403,
      variant: 'rotation',
      rounds: [['Update'], ['BatchGet'], ['Update']],
      async send({ newBuyer }) {
        const person = await newBuyer();
        await putEndedLink(person);
        return { body: person };
      },
    },
    {
      request: 'the same with the token of the buyer, which links again',
      status: 201,
      variant: 'rotation',
      rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Get'], ['TransactWrite']],
      async send({ signIn }) {
        const person = newPerson();
        const token = await signIn(person.phone);
        await putEndedLink(person);
        return { body: { ...person, external_id: `order:${person.national_id}` }, ...token };
      },
    },
  ],
  'check-user': [
    {
      request:
        'a check with another phone: count, lookup, check of the person, paid check of the key, user, transaction',
      status: 200,
      rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['BatchGet'], ['TransactWrite']],
      async send({ newUser, newBuyer }) {
        const { pathParameters, person } = await newUser();
        const { external_id, ...own } = person;
        const { phone } = await newBuyer();
        return { pathParameters, body: { ...claimed(own), phone } };
      },
    },
    {
      request: 'the same data again',
      status: 200,
      rounds: [['Update'], ['BatchGet']],
      async send({ newUser }) {
        const { pathParameters, person } = await newUser();
        const { external_id, ...own } = person;
        return { pathParameters, body: claimed(own) };
      },
    },
  ],
  'send-otp': [
    {
      request: 'a code of a seller: count, lookup, code, SMS of the key, SMS of the phone',
      status: 202,
      rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Update']],
      send: () => ({ body: { phone: newPerson().phone }, ...SELLER }),
    },
    {
      request:
        'a code of a seller in a stage with a ceiling of SMS, which also counts the share of the seller',
      status: 202,
      variant: 'ceilings',
      rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Update'], ['Update'], ['Update']],
      send: () => ({ body: { phone: newPerson().phone }, ...SELLER }),
    },
    {
      request: 'a code of a seller with templates of its own, which the lookup reads too',
      status: 202,
      rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Update']],
      async send() {
        await putTemplates('sel_branded');
        return { body: { phone: newPerson().phone }, ...SELLER, caller: { sellerId: 'sel_branded' } };
      },
    },
    {
      request: 'a code of the buyer app',
      status: 202,
      rounds: [['Update'], ['BatchGet'], ['Update'], ['Update']],
      send: () => ({ body: { phone: newPerson().phone }, ...APP }),
    },
    {
      request: 'a code that no provider sent, which is taken back',
      status: 503,
      rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Update'], ['Update', 'Update']],
      async send({ simulators }) {
        await simulators.setFault('kavenegar', 'balance');
        return { body: { phone: newPerson().phone }, ...SELLER };
      },
      after: ({ simulators }) => simulators.setFault('kavenegar', undefined),
    },
    {
      request: 'a second code at once',
      status: 429,
      rounds: [['Update'], ['BatchGet']],
      async send({ sendCode }) {
        const { phone } = newPerson();
        await sendCode(phone, SELLER);
        return { body: { phone }, ...SELLER };
      },
    },
    {
      request:
        'a code to a phone whose SMS of all sellers are used up, as many calls as within the cool-down',
      status: 429,
      rounds: [['Update'], ['BatchGet']],
      async send({ sendCode }) {
        const { phone } = newPerson();
        for (let index = 0; index < 20; index += 1) {
          await sendCode(phone, { ...SELLER, caller: { sellerId: `sel_other_${index}` } });
        }
        return { body: { phone }, ...SELLER };
      },
    },
    {
      request: 'a code while the SMS of the key are used up',
      status: 429,
      rounds: [['Update']],
      send: () => ({
        body: { phone: newPerson().phone },
        ...SELLER,
        caller: { ...SELLER.caller, limits: JSON.stringify({ 'sms-per-hour': 0 }) },
      }),
    },
  ],
  'verify-otp': [
    {
      request: 'the right code: rate limit, try, redeem',
      status: 200,
      rounds: [['Update'], ['Update'], ['TransactWrite']],
      async send({ sendCode }) {
        const { phone } = newPerson();
        return { body: { phone, code: await sendCode(phone, SELLER) }, ...SELLER };
      },
    },
    {
      request: 'the right code of the buyer app, whose redeem registers the buyer',
      status: 200,
      rounds: [['Update'], ['Update'], ['TransactWrite']],
      async send({ sendCode }) {
        const { phone } = newPerson();
        return { body: { phone, code: await sendCode(phone) }, ...APP };
      },
    },
    {
      request: 'a wrong code: rate limit, try, failed verify of the key',
      status: 422,
      rounds: [['Update'], ['Update'], ['Update']],
      async send({ sendCode }) {
        const { phone } = newPerson();
        const code = await sendCode(phone, SELLER);
        return {
          body: { phone, code: code.replace(/.$/, (last) => `${(Number(last) + 1) % 10}`) },
          ...SELLER,
        };
      },
    },
  ],
  'find-links': [
    {
      request: 'a search that matches nobody',
      status: 200,
      rounds: [['Update'], ['Update'], ['Query'], ['BatchGet']],
      async send(functions) {
        const { sent } = await searchOf(functions);
        return { ...sent, body: { ...sent.body, national_id: newPerson().national_id } };
      },
    },
    {
      request: 'the links of a buyer, whose search is refunded',
      status: 200,
      rounds: [['Update'], ['Update'], ['Query'], ['BatchGet'], ['Update']],
      send: async (functions) => (await searchOf(functions)).sent,
    },
  ],
  'end-link': [
    {
      request: 'the end of a link',
      status: 204,
      rounds: [['Update'], ['Query'], ['BatchGet'], ['BatchGet'], ['TransactWrite']],
      async send(functions) {
        const { sent, token } = await searchOf(functions);
        const { body } = await functions.call('find-links', sent);
        return { pathParameters: { id: body.data[0].id }, ...token };
      },
    },
    {
      request: 'the end of a link with an external id and an outstanding code, during a rotation',
      status: 204,
      variant: 'rotation',
      rounds: [['Update'], ['Query', 'Query'], ['BatchGet'], ['BatchGet'], ['TransactWrite']],
      async send(functions) {
        const { person, sent, token } = await searchOf(functions, 'order:ended');
        const { body } = await functions.call('find-links', sent);
        await putCode(person.phone);
        return { pathParameters: { id: body.data[0].id }, ...token };
      },
    },
  ],
  // Of a seller whose first event is older than a minute: a younger one is read twice.
  'list-events': [
    {
      request: 'the events after a number',
      status: 200,
      rounds: [['Get', 'Query', 'Update']],
      async send() {
        await linkNewUser(table, 'sel_events');
        return { query: { after: ['0'] }, caller: { sellerId: 'sel_events' } };
      },
    },
    {
      request: 'the events from the oldest one',
      status: 200,
      rounds: [['Get', 'Query', 'Update']],
      async send() {
        await linkNewUser(table, 'sel_events');
        return { caller: { sellerId: 'sel_events' } };
      },
    },
  ],
  'get-key': [
    {
      request: 'the key with its seller and all its limits',
      status: 200,
      rounds: [['Update'], ['BatchGet']],
      async send() {
        await putApiKey(table, 'sel_test', 'key_test');
        return {};
      },
    },
  ],
  'get-key-usage': [
    {
      request: 'the hours and the days of use',
      status: 200,
      rounds: [['Query', 'Query', 'Update']],
      send: () => ({}),
    },
  ],
  // The rotation deletes the item of the secret that has ended.
  'rotate-key': [
    {
      request: 'a rotation',
      status: 201,
      rounds: [['Update'], ['Get'], ['TransactWrite']],
      async send() {
        await putApiKey(table, 'sel_test', 'key_test');
        return { body: {} };
      },
    },
  ],
};

/** Reads that may miss the last write, at half the price. Every other read sees what was answered before. */
const EVENTUALLY_CONSISTENT: { readonly [Name in RouteName]?: readonly string[] } = {
  'get-key-usage': ['Query LIMIT#'],
};

const grantedTo = (name: string): readonly string[] =>
  Object.entries(permissionsOf(routes[name as RouteName]).table ?? {})
    .flatMap(([prefix, actions]) => actions.map((action) => `${action} ${prefix}`))
    .sort();

/**
 * No emulator checks grants, so a missing grant would fail on AWS only. Here the functions run with the bindings that they have in
 * Lambda, on the embedded database, and the calls of their budgets must be what the row is granted.
 */
describe('the table calls of a request', () => {
  const rows = allRoutes.filter((route) => permissionsOf(route).table !== undefined);

  test.each(rows.map(({ name }) => name as RouteName))(
    'to %s are within its budgets, use every grant of its row and nothing else, also of the attributes that its updates may name, and read strongly consistent',
    async (name) => {
      const commands = [];
      for (const { request, status, rounds, variant = 'plain', send, after } of BUDGETS[name] ?? []) {
        const made = await deployed.record(variant, name, await send(deployed.of(variant)));
        await after?.(deployed.of(variant));
        expect({ request, status: made.status, rounds: made.rounds }).toEqual({ request, status, rounds });
        commands.push(...made.commands);
      }
      expect(accessesOf(commands)).toEqual(grantedTo(name));
      expect(inconsistentReads(commands)).toEqual(EVENTUALLY_CONSISTENT[name] ?? []);
      const { updates = {} }: Permissions = routes[name].permissions;
      for (const [prefix, attributes] of Object.entries(updates)) {
        expect(updatedAttributes(commands, prefix)).toEqual(attributes.toSorted());
      }
    },
  );

  test('of the authorizer are one read of a key secret', async () => {
    const key = newApiKey('blk_test_');
    const Item = {
      ...keySecretKey(hashApiKey(key)),
      seller_id: 'sel_test',
      key_id: 'key_test',
      scopes: ['users:read'],
      plan: 'free',
      usage_id: 'u'.repeat(40),
      status: 'active',
      seller_status: 'active',
      number: 1,
    };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
    const { handler } = await import('#functions/authorizer.ts');
    const event = {
      methodArn: 'arn:aws:execute-api:us-east-1:000000000000:api/dev/GET/v1/users',
      headers: { 'X-Api-Key': key },
      requestContext: { requestId: 'request' },
    };
    const { rounds, commands } = await deployed.recordCalls(() =>
      handler(event as unknown as APIGatewayRequestAuthorizerEvent),
    );
    expect(rounds).toEqual([['Get']]);
    expect(accessesOf(commands)).toEqual(['GetItem SECRET#']);
    expect(inconsistentReads(commands)).toEqual([]);
  });
});

// Here, since they need the same functions as they are in Lambda.
describe('a stage with several issuers', () => {
  test('writes the first one into tokens', async () => {
    const { headers } = await deployed.of('plain').signIn('+989121234567');
    const [, payload = ''] = headers.authorization.split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString()).iss).toBe(ISSUERS[0]);
  });

  test('tells verifiers the first one', async () => {
    const { status, body } = await deployed.of('plain').call('get-openid-configuration');
    expect(status).toBe(200);
    expect([body.issuer, body.jwks_uri]).toEqual([ISSUERS[0], `${ISSUERS[0]}/.well-known/jwks.json`]);
  });
});
