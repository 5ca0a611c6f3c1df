/** docs/table.md against the items that the stores write. */
import { readFileSync } from 'node:fs';
import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb';
import { administration } from '#admin/administration.ts';
import { eraseBuyer } from '#admin/operations/buyers.ts';
import { rotateKey, setExpiry } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { setKeyLimits } from '#admin/operations/key-limits.ts';
import { restore } from '#admin/operations/restore/restore.ts';
import { restoreReport } from '#admin/operations/restore/restoring.ts';
import { createSeller, setSellerStatus, setSellerTemplates } from '#admin/operations/sellers.ts';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { codeSends, codeTries } from '#shared/one-time-codes/store.ts';
import { ceilingLimits, personLimit, phoneLimit } from '#shared/rate-limits/limits.ts';
import { KEY_LIMIT_NAMES, keyLimit, minuteLimit } from '#shared/rate-limits/plans.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { apiKeyKey, buyerKey } from '#shared/table/keys.ts';
import { itemsIn } from '#test/admin/operations/restore/damage.ts';
import { patientLimiter } from '#test/shared/rate-limits/patient-limiter.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { useApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const PAGE = readFileSync(new URL('../../docs/table.md', import.meta.url), 'utf8');

/** Section of the page -> attribute -> DynamoDB type. */
type Attributes = Readonly<Record<string, Readonly<Record<string, string>>>>;

const documented = (): Attributes =>
  Object.fromEntries(
    PAGE.split(/^## /m)
      .slice(1)
      .map((section) => [
        section.split('\n', 1)[0] ?? '',
        Object.fromEntries(
          [...section.matchAll(/^\| ([\w<>-]+) \| ([SNLMB]) \|/gm)].map(([, name, type]) => [name, type]),
        ),
      ]),
  );

type Item = Readonly<Record<string, AttributeValue>>;

const SECTIONS: readonly (readonly [section: string, key: RegExp])[] = [
  ['Seller', /^SELLER#\S+ SELLER$/],
  ['Seller list', /^SELLERS /],
  ['API key', /^SELLER#\S+ KEY#/],
  ['Key id', /^KEYID#\S+ KEYID$/],
  ['Key secret', /^SECRET#[0-9a-f]{64} SECRET$/],
  ['Audit record', /^AUDIT#/],
  ['User', /^USERS#\S+ \d{12}$/],
  ['Tombstone', /^REMOVED#\S+ \d{12}$/],
  ['Removals of a block', /^REMOVALS#\S+ \d{12}$/],
  ['Removals of a seller', /^REMOVALS#\S+ SUMMARY$/],
  ['External id', /^EXTERNAL#\S+#\S+ EXTERNAL$/],
  ['Event', /^EVENTS#\S+ \d{12}$/],
  ['Person', /^PERSON#\S+#\S+ PERSON$/],
  ['Refusal', /^LINKS#\S+ REFUSAL#\S+#\S+$/],
  ['Searches', /^LINKS#\S+ SEARCHES$/],
  ['Phone link', /^LINKS#\S+ \S+#\d{12}$/],
  ['Person check', /^CHECK#\S+#\S+ CHECK$/],
  ['Buyer', /^BUYER#\S+ BUYER$/],
  ['SMS to a phone', /^CODE#\S+ ALL$/],
  ['One-time code', /^CODE#/],
  ['Limit', /^LIMIT#\S+ (?:HOUR|DAY)#\d+$/],
];

const sectionOf = (item: Item): string => {
  const key = `${item.pk?.S} ${item.sk?.S}`;
  return SECTIONS.find(([, pattern]) => pattern.test(key))?.[0] ?? `undocumented item ${key}`;
};

const typesOf = ({ pk: _pk, sk: _sk, ...attributes }: Item): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name.replace(/_\d+$/, '_<n>'),
      Object.keys(value)[0] ?? '',
    ]),
  );

const NOW_MS = Date.parse('2026-11-21T10:00:00Z');
const NOW = NOW_MS / 1000;
const AT = new Date(NOW_MS).toISOString();
const DEADLINE_MS = performance.now() + 60_000;

const user = {
  national_id_last_four: '0829',
  birth_date: '1370/1/15',
  phone: '+989121234567',
  display_name: 'Sara Ahmadi',
  external_id: 'order:1',
  created_at: AT,
};

const table = useTable();
const apiGateway = useApiGateway();

/** Writes each kind of item, in each of its states. `observe` is called after each write. */
const writeEverything = async (observe: () => Promise<void>): Promise<void> => {
  const observed = async <T>(write: Promise<T>): Promise<T> => {
    const result = await write;
    await observe();
    return result;
  };
  // Each write of an admin is observed, so that marks of a change in progress are seen too.
  const admin = administration({
    table: interceptedTable(table, async (_, send) => {
      const result = await send();
      await observe();
      return result;
    }),
    usagePlans: apiGateway().usagePlans,
    keyPrefix: 'blk_test_',
    stage: 'test',
    actor: 'local:tester',
    clock: () => NOW_MS,
  });
  const { seller_id: sellerId } = await observed(createSeller(admin, 'Kaveh Books'));
  await observed(eraseBuyer(admin, new KeyedHash('another phone')));
  const { key } = await issueKey(admin, {
    sellerId,
    name: 'shop',
    plan: 'free',
    scopes: ['users:read'],
  });
  const source = await startEmbeddedTable();
  await putAll(source, await itemsIn(table));
  await setKeyLimits(admin, key.key_id, { set: { 'sms-per-hour': 5 }, unset: [] });
  await setExpiry(admin, key.key_id, NOW + 3600);
  await rotateKey(admin, key.key_id, 60);
  await setSellerStatus(admin, sellerId, 'suspended');
  const set = { kavenegar: 'kaveh-books' };
  await observed(setSellerTemplates(admin, sellerId, { locale: 'fa', set, remove: [] }));
  await deleteAll(table, [apiKeyKey(sellerId, key.key_id)]);
  await observed(restore(admin, { source, isCopy: true, report: restoreReport() }));
  await source.stop();

  const users = userStore(table);
  const link = {
    sellerId,
    person: new KeyedHash('person'),
    phone: new KeyedHash('phone'),
    buyer: buyerKey('phone'),
    birthDay: '1991-04-04',
    user,
  };
  await observed(buyerStore(table).register('phone', 'byr_1', AT));
  const linked = await observed(users.link(link, DEADLINE_MS));
  const removal = { removedAt: AT, reason: 'seller' as const, deadlineMs: DEADLINE_MS };
  await observed(users.removeUser(sellerId, linked.written ? linked.value.id : '', removal));

  const again = await observed(users.link(link, DEADLINE_MS));
  const end = { ...removal, reason: 'buyer', refusedAt: NOW } as const;
  await observed(users.removeUser(sellerId, again.written ? again.value.id : '', end));

  const owner = { phoneHash: 'phone', audience: sellerId };
  const codes = { ...codeSends(table), ...codeTries(table) };
  const code = { mac: 'salt.mac', provider: 'kavenegar', now: NOW };
  const unsent = { ...code, mac: 'unsent.mac', isRefused: true };
  const { record: before } = await codes.read(owner);
  await observed(codes.recordSend(owner, before, unsent));
  await observed(codes.undoSend(owner, before, unsent));
  await observed(codes.recordSend(owner, (await codes.read(owner)).record, code));
  await observed(codes.countTry(owner, NOW + 1));
  await observed(codes.redeem(owner, code.mac, NOW + 2));

  const caller = { keyId: key.key_id, plan: 'free', limits: {} } as const;
  for (const limit of [minuteLimit(caller), ...KEY_LIMIT_NAMES.map((name) => keyLimit(name, caller))]) {
    await observed(patientLimiter(table).increment(limit, NOW_MS));
  }
  const [person, phone] = [new KeyedHash('person'), new KeyedHash('phone')];
  const others = [
    personLimit('begun-checks', sellerId, person),
    personLimit('failed-checks', sellerId, person),
    phoneLimit('searches', phone),
    phoneLimit('sms', phone),
    ...ceilingLimits('sms-per-day', 10, { sellerId, keyId: key.key_id, scopes: [] }),
  ];
  for (const limit of others) await observed(patientLimiter(table).increment(limit, NOW_MS));
};

describe('docs/table.md', () => {
  it('lists every item that the stores write, with exactly its attributes and their types', async () => {
    const found: Record<string, Record<string, string>> = {};
    await writeEverything(async () => {
      const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.name }));
      for (const item of Items) found[sectionOf(item)] = { ...found[sectionOf(item)], ...typesOf(item) };
    });
    expect(found).toEqual(documented());
  });
});
