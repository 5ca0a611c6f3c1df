import { auditStore } from '#admin/stores/audit-store.ts';
import { adminBuyerStore, type NewBuyer } from '#admin/stores/buyer-store.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { recordWrites } from '#test/admin/operations/use-administration.ts';
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

  it('removes a registration under every hash, with the audit record in the same transaction', async () => {
    const [buyer] = newBuyers(1) as [NewBuyer];
    await adminBuyerStore(table).registerMany([buyer], NOW);
    const writes = recordWrites(table);
    const record = { at: NOW, actor: 'local:tester', action: 'buyer.removed' };
    await adminBuyerStore(table).remove(new KeyedHash(buyer.phone.current, ['older hash']), record);
    expect(writes()).toEqual([[`BUYER#${buyer.phone.current}`, 'BUYER#older hash', 'AUDIT#deployment']]);
    expect(await registeredAt(buyer)).toBeUndefined();
    expect(await auditStore(table).list('deployment', { limit: 1 })).toMatchObject([record]);
  });
});
