import { AsyncResource } from 'node:async_hooks';
import { isDeepStrictEqual } from 'node:util';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { countsOf, eraseBuyer, readBuyerData } from '#admin/operations/buyers.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { type TestAdministration, useAdministration } from '#test/admin/operations/use-administration.ts';
import { isFullRun } from '#test/full-run.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { testHashes } from './create-user-deps.ts';
import { addSellers, createUserUnderTest, newBuyerIn, newKey } from './create-user-under-test.ts';
import { RIGHT, verifyOtpOn } from './verify-otp-under-test.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
beforeAll(async () => {
  deployment = await newAdministration();
  await addSellers(deployment.table, 'sel_test');
});

type Change = (phone: KeyedHash) => Promise<unknown>;

const erase: Change = (phone) => eraseBuyer(deployment.admin, phone);

const remove: Change = (phone) =>
  adminBuyerStore(deployment.table).remove(
    phone,
    deployment.admin.record({ action: 'buyer.removed', details: {} }),
  );

/** The calls of a link: lookup, count, lease, paid check, count of users, transaction. The transaction is the last. */
const CALLS = 6;

/** A table at one of whose calls a change begins: before the call is sent, which waits for its end, or beside it. */
const tableDuring = (change: () => Promise<unknown>, moment: number, order: 'before' | 'beside') => {
  const changed = Promise.withResolvers<unknown>();
  // Its writes are not those of the function.
  const changeApart = AsyncResource.bind(change);
  let calls = 0;
  const table = interceptedTable(deployment.table, async (_command, send) => {
    calls += 1;
    if (calls === moment) changed.resolve(changeApart());
    if (calls === moment && order === 'before') await changed.promise;
    return send();
  });
  return { table, changed: changed.promise };
};

/** Links a new buyer, who is erased or removed at one call of the link. */
const linkDuring = async (change: Change, moment: number, order: 'before' | 'beside') => {
  const buyer = await newBuyerIn(deployment.table);
  const phoneHash = await testHashes.phone(buyer.phone);
  const { table, changed } = tableDuring(() => change(phoneHash), moment, order);
  const { json } = await createUserUnderTest(table).call({ body: buyer, authorizer: newKey() });
  await changed;
  const { users, registrations } = countsOf(await readBuyerData(deployment.admin, phoneHash));
  return { result: json.code ?? 'linked', users, registrations };
};

/** A user is checked again with the phone of a new buyer, who is erased at one call of the check. */
const checkDuring = async (moment: number, order: 'before' | 'beside') => {
  const person = await newBuyerIn(deployment.table);
  const { phone } = await newBuyerIn(deployment.table);
  const phoneHash = await testHashes.phone(phone);
  const { id } = (await createUserUnderTest(deployment.table).call({ body: person, authorizer: newKey() }))
    .json;
  const { table, changed } = tableDuring(() => erase(phoneHash), moment, order);
  const { display_name, ...claimed } = person;
  const body = { ...claimed, phone };
  const { json } = await createUserUnderTest(table).check({ path: { id }, body, authorizer: newKey() });
  await changed;
  const { users } = countsOf(await readBuyerData(deployment.admin, phoneHash));
  const kept = await readBuyerData(deployment.admin, await testHashes.phone(person.phone));
  return { result: json.code ?? 'checked', users, kept: countsOf(kept).users };
};

/** The transaction; in the full run every call. */
const MOMENTS = Array.from({ length: CALLS }, (_, index) => index + 1).slice(isFullRun ? 0 : -1);

describe('a link whose buyer is erased or removed at one of its calls', () => {
  it.each([
    ['erased', erase],
    ['removed', remove],
  ])(
    'is buyer_not_registered when the buyer is %s before the transaction of the link, in the full run before any call',
    async (_what, change) => {
      for (const moment of MOMENTS) {
        expect(await linkDuring(change, moment, 'before')).toEqual({
          result: 'buyer_not_registered',
          users: 0,
          registrations: 0,
        });
      }
    },
  );

  it('leaves no user after an erasure beside its transaction, in the full run beside any call, whichever of the two is first', async () => {
    for (const moment of MOMENTS) {
      const { result, users, registrations } = await linkDuring(erase, moment, 'beside');
      expect(['linked', 'buyer_not_registered']).toContain(result);
      expect([users, registrations]).toEqual([0, 0]);
    }
  });

  it('makes a user if and only if it is answered with 201, when the buyer is removed beside its transaction, in the full run beside any call', async () => {
    for (const moment of MOMENTS) {
      const { result, users, registrations } = await linkDuring(remove, moment, 'beside');
      expect([users, registrations]).toEqual([result === 'linked' ? 1 : 0, 0]);
    }
  });
});

describe('a check of a user whose new buyer is erased at its sixth call, in the full run at each of six', () => {
  it('leaves no user with the erased phone, and the user with its old phone if it was not checked', async () => {
    const notAllowed = [];
    for (const moment of MOMENTS) {
      for (const order of ['before', 'beside'] as const) {
        const outcome = await checkDuring(moment, order);
        const allowed = [
          { result: 'buyer_not_registered', users: 0, kept: 1 },
          ...(order === 'beside' ? [{ result: 'checked', users: 0, kept: 0 }] : []),
        ];
        if (!allowed.some((one) => isDeepStrictEqual(one, outcome)))
          notAllowed.push({ moment, order, ...outcome });
      }
    }
    expect(notAllowed).toEqual([]);
  });
});

describe('a link and a sign-in of one buyer at once', () => {
  it('both succeed: the sign-in registers the buyer again when the transaction of the link has ended', async () => {
    const buyer = await newBuyerIn(deployment.table);
    const conflicted = Promise.withResolvers<void>();
    let isLinking = false;
    const linking = Promise.withResolvers<void>();
    const onLink = interceptedTable(deployment.table, async ({ name }, send) => {
      if (name !== 'TransactWriteCommand') return send();
      isLinking = true;
      linking.resolve();
      await conflicted.promise;
      isLinking = false;
      return send();
    });
    // The transaction holds the item of the buyer, as DynamoDB does.
    const onVerify = interceptedTable(deployment.table, async ({ name }, send) => {
      if (name !== 'TransactWriteCommand' || !isLinking) return send();
      conflicted.resolve();
      const CancellationReasons = [{ Code: 'None' }, { Code: 'TransactionConflict' }];
      throw new TransactionCanceledException({ message: 'conflict', $metadata: {}, CancellationReasons });
    });
    const app = verifyOtpOn(deployment.table, { on: onVerify });
    await app.send(buyer.phone);
    const link = createUserUnderTest(onLink).call({ body: buyer, authorizer: newKey() });
    await linking.promise;
    const verify = app.verify(buyer.phone, RIGHT);
    expect((await link).status).toBe(201);
    expect((await verify).status).toBe(200);
  });
});
