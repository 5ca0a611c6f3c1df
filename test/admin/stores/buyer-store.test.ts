import { adminBuyerStore, type NewBuyer } from '#admin/stores/buyer-store.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

const BEFORE = '2026-11-20T10:00:00.000Z';
const NOW = '2026-11-21T10:00:00.000Z';

let people = 0;
const newBuyers = (count: number): NewBuyer[] =>
  Array.from({ length: count }, () => {
    people += 1;
    return { phone: new KeyedHash(`hash${people}`), buyerId: `byr_${people}` };
  });

const registeredAt = async ({ phone }: NewBuyer) => (await adminBuyerStore(table).find(phone))?.registered_at;

describe('adminBuyerStore', () => {
  it('registers many buyers, of whom a registered one is not missing', async () => {
    const [first, second, third] = newBuyers(3) as [NewBuyer, NewBuyer, NewBuyer];
    const store = adminBuyerStore(table);
    await buyerStore(table).register(second.phone.current, second.buyerId, BEFORE);
    const missing = await store.missingOf([first, second, third]);
    expect(missing).toEqual([first, third]);
    await store.registerMany(missing, NOW);
    expect(await Promise.all([first, second, third].map(registeredAt))).toEqual([NOW, BEFORE, NOW]);
    expect(await store.missingOf([first, second, third])).toEqual([]);
  });

  it('does not miss a buyer that is stored under an older hash', async () => {
    const [old] = newBuyers(1) as [NewBuyer];
    await adminBuyerStore(table).registerMany([old], BEFORE);
    const phone = new KeyedHash('hash under the new secret', [old.phone.current]);
    expect(await adminBuyerStore(table).missingOf([{ phone, buyerId: old.buyerId }])).toEqual([]);
  });

  it('unregisters a buyer only if the time of registration is this one', async () => {
    const [buyer] = newBuyers(1) as [NewBuyer];
    await adminBuyerStore(table).registerMany([buyer], BEFORE);
    expect(await adminBuyerStore(table).unregister(buyer.phone, NOW)).toBe(false);
    expect(await registeredAt(buyer)).toBe(BEFORE);
    expect(await adminBuyerStore(table).unregister(buyer.phone, BEFORE)).toBe(true);
    expect(await registeredAt(buyer)).toBeUndefined();
  });
});
