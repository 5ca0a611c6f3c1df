import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { handle as deleteUser } from '#functions/delete-user.ts';
import { handle as getKey } from '#functions/get-key.ts';
import { handle as getKeyUsage } from '#functions/get-key-usage.ts';
import { handle as getUser } from '#functions/get-user.ts';
import { handle as listEvents } from '#functions/list-events.ts';
import { handle as listUsers } from '#functions/list-users.ts';
import { handle as rotateKey } from '#functions/rotate-key.ts';
import { handle as updateUser } from '#functions/update-user.ts';
import { ownKeyReader, ownKeyRotator } from '#shared/api-keys/own-key.ts';
import { eventReads } from '#shared/events/read-events.ts';
import { useReader } from '#shared/rate-limits/use-history.ts';
import { type RouteName, routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { newPerson } from '#test/generated-people.ts';
import { putApiKey } from '#test/shared/api-keys/put-api-key.ts';
import { linked, linkOf, withExternalId } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { countedTable } from '#test/table/counted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { buyerAppOn, linkPerson } from './buyer-links-under-test.ts';
import { testHashes } from './create-user-deps.ts';
import { addSellers, createUserUnderTest, newBuyerIn, newKey } from './create-user-under-test.ts';
import { callerContext, functionUnderTest, type Reply } from './harness.ts';
import { seller, sendOtpOn } from './send-otp-under-test.ts';
import { linkNewUser } from './users-on.ts';
import { RIGHT, verifyOtpOn, WRONG } from './verify-otp-under-test.ts';

/** Makes one request on the counted table `on`. What it prepares goes to the table itself. */
type Request = (on: Table) => Promise<Reply>;

interface Budget {
  readonly operation: RouteName;
  readonly request: string;
  readonly status: number;
  /** The calls, the rate limit included. Those of a row run side by side; each row waits for the one before. */
  readonly rounds: readonly (readonly string[])[];
  readonly make: Request;
}

const table = useTable();
beforeAll(async () => {
  await addSellers(table, 'sel_test', 'sel_events');
});

const list = async (on: Table, query: Record<string, string>) =>
  functionUnderTest(routes['list-users'], listUsers, on, {
    users: userStore(on),
    hashes: testHashes,
  }).call({ query });

/** Of a seller whose first event is older than a minute: a younger one is read twice. */
const readEvents = async (on: Table, query: Record<string, string>) => {
  await linkNewUser(table, 'sel_events');
  const reader = functionUnderTest(routes['list-events'], listEvents, on, { events: eventReads(on) });
  return reader.call({ query, authorizer: { ...callerContext, sellerId: 'sel_events' } });
};

const update = async (on: Table, body: object): Promise<Reply> => {
  const { id } = await linkNewUser(table, 'sel_test');
  const users = userStore(on);
  const route = routes['update-user'];
  return functionUnderTest(route, updateUser, on, { users }).call({
    path: { id },
    body,
  });
};

const create = async (on: Table, options: Parameters<typeof createUserUnderTest>[1] = {}) =>
  createUserUnderTest(on, options).call({ body: await newBuyerIn(table), authorizer: newKey() });

const verify = async (on: Table, code: string, authorizer?: Record<string, string>) => {
  const { phone } = newPerson();
  const otp = verifyOtpOn(table, { on });
  await otp.send(phone, authorizer?.sellerId);
  return otp.verify(phone, code, authorizer);
};

const APP = { ...seller('sel_app'), scopes: 'buyers:register' };

/** A budget that grows costs money and time on every request: first look for a call that can be merged or left out. */
const BUDGETS: readonly Budget[] = [
  {
    operation: 'list-users',
    request: 'a page',
    status: 200,
    rounds: [['BatchGet', 'Query', 'Update']],
    make: (on) => list(on, { page: '1' }),
  },
  {
    operation: 'list-users',
    request: 'a page with removals before it',
    status: 200,
    rounds: [['BatchGet', 'Query', 'Update'], ['Get'], ['Query']],
    async make(on) {
      const users = [await linkNewUser(table, 'sel_test'), await linkNewUser(table, 'sel_test')];
      await linkNewUser(table, 'sel_test');
      const { id } = users[0] as { id: string };
      const removal = {
        removedAt: '2026-11-21T07:30:00.000Z',
        reason: 'seller' as const,
      };
      await userStore(table).removeUser('sel_test', id, removal);
      const { total } = await userStore(table).listPage('sel_test', 1, 1);
      return list(on, { page: String(total), page_size: '1' });
    },
  },
  {
    operation: 'list-users',
    request: 'the users after one',
    status: 200,
    rounds: [['BatchGet', 'Query', 'Update']],
    make: (on) => list(on, { after: `usr_${'0'.repeat(22)}` }),
  },
  {
    operation: 'list-users',
    request: 'the users with a phone',
    status: 200,
    rounds: [['Query', 'Update'], ['BatchGet']],
    async make(on) {
      const { phone } = await linkNewUser(table, 'sel_test', { by: testHashes });
      return list(on, { phone });
    },
  },
  {
    operation: 'list-users',
    request: 'the user with an external id',
    status: 200,
    rounds: [['Get', 'Update'], ['Get']],
    async make(on) {
      await linked(userStore(table), withExternalId(linkOf('sel_test', 'external'), 'order:external'));
      return list(on, { external_id: 'order:external' });
    },
  },
  {
    operation: 'get-user',
    request: 'a user',
    status: 200,
    rounds: [['Get', 'Update']],
    async make(on) {
      const { id } = await linkNewUser(table, 'sel_test');
      const users = userStore(on);
      return functionUnderTest(routes['get-user'], getUser, on, {
        users,
      }).call({ path: { id } });
    },
  },
  {
    operation: 'update-user',
    request: 'a correction of the name and the external id',
    status: 200,
    rounds: [['Update'], ['BatchGet'], ['TransactWrite']],
    make: (on) => update(on, { display_name: 'Sara Rezaei', external_id: 'order:budget' }),
  },
  {
    operation: 'update-user',
    request: 'a correction that changes nothing',
    status: 200,
    rounds: [['Update'], ['BatchGet']],
    make: (on) => update(on, { external_id: null }),
  },
  {
    operation: 'delete-user',
    request: 'a user',
    status: 204,
    rounds: [['Update'], ['BatchGet'], ['TransactWrite']],
    async make(on) {
      const { id } = await linkNewUser(table, 'sel_test');
      const users = userStore(on);
      return functionUnderTest(routes['delete-user'], deleteUser, on, { users }).call({ path: { id } });
    },
  },
  {
    operation: 'create-user',
    request:
      'a new link: count, lookup, check of the person, paid check of the key, counts of the seller, link',
    status: 201,
    rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Get'], ['TransactWrite']],
    make: (on) => create(on),
  },
  {
    operation: 'create-user',
    request: 'a new link of a seller in a stage with a ceiling of paid checks, which also counts its share',
    status: 201,
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
    async make(on) {
      const authorizer = { ...newKey(), scopes: 'users:write' };
      return createUserUnderTest(on, { paidChecksPerDay: 1_000_000 }).call({
        body: await newBuyerIn(table),
        authorizer,
      });
    },
  },
  {
    operation: 'create-user',
    request: 'an existing link',
    status: 200,
    rounds: [['Update'], ['BatchGet'], ['Get']],
    async make(on) {
      const body = await newBuyerIn(table);
      await createUserUnderTest(table).call({ body, authorizer: newKey() });
      return createUserUnderTest(on).call({ body, authorizer: newKey() });
    },
  },
  {
    operation: 'create-user',
    request: 'a refused link, which is counted before it is answered',
    status: 404,
    rounds: [['Update'], ['BatchGet'], ['Update']],
    make: (on) => createUserUnderTest(on).call({ body: newPerson(), authorizer: newKey() }),
  },
  {
    operation: 'create-user',
    request: 'an existing link while the refused links of the key are used up',
    status: 429,
    rounds: [['Update']],
    async make(on) {
      const body = await newBuyerIn(table);
      await createUserUnderTest(table).call({ body, authorizer: newKey() });
      const limits = JSON.stringify({ 'refused-links-per-hour': 0 });
      return createUserUnderTest(on).call({ body, authorizer: { ...newKey(), limits } });
    },
  },
  {
    operation: 'check-user',
    request:
      'a check with another phone: count, lookup, check of the person, paid check of the key, user, transaction',
    status: 200,
    rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['BatchGet'], ['TransactWrite']],
    async make(on) {
      const { display_name, ...person } = await newBuyerIn(table);
      const { id } = await linkPerson(table, 'sel_test', { ...person, display_name });
      const { phone } = await newBuyerIn(table);
      const request = { path: { id }, body: { ...person, phone }, authorizer: newKey() };
      return createUserUnderTest(on).check(request);
    },
  },
  {
    operation: 'check-user',
    request: 'the same data again',
    status: 200,
    rounds: [['Update'], ['BatchGet']],
    async make(on) {
      const { display_name, ...body } = await newBuyerIn(table);
      const { call } = createUserUnderTest(table);
      const { id } = (await call({ body: { ...body, display_name }, authorizer: newKey() })).json;
      return createUserUnderTest(on).check({ path: { id }, body, authorizer: newKey() });
    },
  },
  {
    operation: 'send-otp',
    request: 'a code of a seller: count, lookup, SMS of the phone, SMS of the key, code',
    status: 202,
    rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Update']],
    make: (on) => sendOtpOn(on).send(newPerson().phone),
  },
  {
    operation: 'send-otp',
    request: 'a code of a seller in a stage with a ceiling of SMS, which also counts the share of the seller',
    status: 202,
    rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Update'], ['Update'], ['Update']],
    make: (on) => sendOtpOn(on, { smsPerDay: 1_000_000 }).send(newPerson().phone),
  },
  {
    operation: 'send-otp',
    request: 'a code of a seller with templates of its own, which the lookup reads too',
    status: 202,
    rounds: [['Update'], ['BatchGet'], ['Update'], ['Update'], ['Update']],
    async make(on) {
      const message_templates = { kavenegar: { fa: 'kaveh-books' } };
      const Item = { ...sellerKey('sel_branded'), message_templates };
      await table.client.send(new PutCommand({ TableName: table.name, Item }));
      const otp = sendOtpOn(on);
      const reply = await otp.send(newPerson().phone, seller('sel_branded'));
      expect(otp.sent).toMatchObject([{ templates: message_templates }]);
      return reply;
    },
  },
  {
    operation: 'send-otp',
    request: 'a code of the buyer app',
    status: 202,
    rounds: [['Update'], ['BatchGet'], ['Update'], ['Update']],
    make: (on) => sendOtpOn(on).send(newPerson().phone, APP),
  },
  {
    operation: 'verify-otp',
    request: 'the right code: rate limit, try, redeem',
    status: 200,
    rounds: [['Update'], ['Update'], ['TransactWrite']],
    make: (on) => verify(on, RIGHT, seller('sel_a')),
  },
  {
    operation: 'verify-otp',
    request: 'the right code of the buyer app, whose redeem registers the buyer',
    status: 200,
    rounds: [['Update'], ['Update'], ['TransactWrite']],
    make: (on) => verify(on, RIGHT, APP),
  },
  {
    operation: 'verify-otp',
    request: 'a wrong code: rate limit, try, failed verify of the key',
    status: 422,
    rounds: [['Update'], ['Update'], ['Update']],
    make: (on) => verify(on, WRONG, seller('sel_a')),
  },
  {
    operation: 'find-links',
    request: 'a search that matches nobody',
    status: 200,
    rounds: [['Update'], ['Update'], ['Query'], ['BatchGet']],
    async make(on) {
      const { phone } = await linkPerson(table, 'sel_test');
      return buyerAppOn(on).find({ ...newPerson(), phone });
    },
  },
  {
    operation: 'find-links',
    request: 'the links of a buyer, whose search is refunded',
    status: 200,
    rounds: [['Update'], ['Update'], ['Query'], ['BatchGet'], ['Update']],
    async make(on) {
      const person = newPerson();
      await linkPerson(table, 'sel_test', person);
      return buyerAppOn(on).find(person);
    },
  },
  {
    operation: 'end-link',
    request: 'the end of a link',
    status: 204,
    rounds: [['Update'], ['Query'], ['BatchGet'], ['BatchGet'], ['TransactWrite']],
    async make(on) {
      const person = newPerson();
      await linkPerson(table, 'sel_test', person);
      const [{ id }] = (await buyerAppOn(table).find(person)).json.data;
      return buyerAppOn(on).end(person.phone, id);
    },
  },
  {
    operation: 'list-events',
    request: 'the events after a number',
    status: 200,
    rounds: [['Get', 'Query', 'Update']],
    make: (on) => readEvents(on, { after: '0' }),
  },
  {
    operation: 'list-events',
    request: 'the events from the oldest one',
    status: 200,
    rounds: [['Get', 'Query', 'Update']],
    make: (on) => readEvents(on, {}),
  },
  {
    operation: 'get-key',
    request: 'the key with its seller and all its limits',
    status: 200,
    rounds: [['Update'], ['BatchGet']],
    async make(on) {
      await putApiKey(table, 'sel_test', 'key_test');
      const keys = { read: ownKeyReader(on) };
      return functionUnderTest(routes['get-key'], getKey, on, {
        keys,
      }).call();
    },
  },
  {
    operation: 'get-key-usage',
    request: 'the hours and the days of use',
    status: 200,
    rounds: [['Query', 'Query', 'Update']],
    make: (on) =>
      functionUnderTest(routes['get-key-usage'], getKeyUsage, on, { readUse: useReader(on) }).call(),
  },
  {
    operation: 'rotate-key',
    request: 'a rotation',
    status: 201,
    rounds: [['Update'], ['Get'], ['TransactWrite']],
    async make(on) {
      await putApiKey(table, 'sel_test', 'key_test');
      return functionUnderTest(routes['rotate-key'], rotateKey, on, {
        keys: { rotate: ownKeyRotator(on) },
        keyPrefix: 'blk_test_',
      }).call({
        body: {},
        authorizer: { ...callerContext, secretNumber: '2' },
      });
    },
  },
];

describe('the table calls of a request', () => {
  it.each(BUDGETS)('to $operation: $request', async ({ status, rounds, make }) => {
    const counted = countedTable(table);
    expect((await make(counted.table)).status).toBe(status);
    expect(counted.rounds).toEqual(rounds);
  });
});
