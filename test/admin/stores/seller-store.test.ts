import { type Seller, sellerStore } from '#admin/stores/seller-store.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

let sellers = 0;
const createSeller = async (): Promise<Seller> => {
  sellers += 1;
  const seller: Seller = {
    seller_id: `sel_${sellers}`,
    name: `Shop ${sellers}`,
    status: 'active',
    user_count: 0,
    removed_count: 0,
    event_count: 0,
    created_at: '2026-11-20T10:00:00.000Z',
  };
  await sellerStore(table).create(seller, record(seller, 'seller.created'));
  return seller;
};

const record = ({ seller_id }: Seller, action: string): NewAuditRecord => ({
  at: '2026-11-21T10:00:00.000Z',
  actor: 'local:tester',
  action,
  seller_id,
});

const SUSPENDED = { unflushed_since: '2026-11-21T10:00:00.000Z', status: 'suspended' } as const;
const SUSPENSION = { attributes: SUSPENDED, unchanged: 'status' } as const;

describe('change', () => {
  it('sets the attributes beside a change of another attribute', async () => {
    const seen = await createSeller();
    const renaming = { attributes: { name: 'Kaveh Books' }, unchanged: 'name' } as const;
    const store = sellerStore(table);
    expect(await store.change(seen, renaming, record(seen, 'seller.renamed'))).toBe(true);
    expect(await store.change(seen, SUSPENSION, record(seen, 'seller.suspended'))).toBe(true);
    expect(await store.find(seen.seller_id)).toEqual({ ...seen, name: 'Kaveh Books', ...SUSPENDED });
  });

  it('changes nothing if the attribute that must be unchanged has changed, wherever it is among the attributes', async () => {
    const seen = await createSeller();
    const store = sellerStore(table);
    const first = { attributes: { status: 'suspended' }, unchanged: 'status' } as const;
    expect(await store.change(seen, first, record(seen, 'seller.suspended'))).toBe(true);
    expect(await store.change(seen, SUSPENSION, record(seen, 'seller.suspended'))).toBe(false);
    expect(await store.find(seen.seller_id)).toEqual({ ...seen, status: 'suspended' });
  });

  it('changes nothing if an attribute that must be missing has been set', async () => {
    const seen = await createSeller();
    const store = sellerStore(table);
    const change = (name: string) =>
      store.change(
        seen,
        { attributes: { message_templates: { kavenegar: { fa: name } } }, unchanged: 'message_templates' },
        record(seen, 'seller.templates_set'),
      );
    expect([await change('first'), await change('second')]).toEqual([true, false]);
    expect(await store.find(seen.seller_id)).toEqual({
      ...seen,
      message_templates: { kavenegar: { fa: 'first' } },
    });
  });
});
