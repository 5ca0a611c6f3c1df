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
  it('does not change registered buyers, and returns the number of new ones', async () => {
    const [first, second, third] = newBuyers(3) as [NewBuyer, NewBuyer, NewBuyer];
    await buyerStore(table).register(second.phone.current, second.buyerId, BEFORE);
    expect(await adminBuyerStore(table).registerMany([first, second, third], NOW)).toBe(2);
    expect(await Promise.all([first, second, third].map(registeredAt))).toEqual([NOW, BEFORE, NOW]);
  });

  it('finds a buyer that is stored under an older hash', async () => {
    const [old] = newBuyers(1) as [NewBuyer];
    await adminBuyerStore(table).registerMany([old], BEFORE);
    const rotated: NewBuyer = {
      phone: new KeyedHash('hash under the new secret', [old.phone.current]),
      buyerId: old.buyerId,
    };
    expect(await adminBuyerStore(table).registerMany([rotated], NOW)).toBe(0);
    expect(await adminBuyerStore(table).find(new KeyedHash('hash under the new secret'))).toBeUndefined();
  });
});
