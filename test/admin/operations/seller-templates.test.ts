import { setSellerTemplates } from '#admin/operations/sellers.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import { codeSends } from '#shared/one-time-codes/store.ts';
import { linkBuyer } from './linked-buyer.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
let seller: Seller;
beforeEach(async () => {
  deployment = await newAdministration();
  ({ seller } = await deployment.issued());
});

const setIn = (admin: TestAdministration['admin'], set: object, locale: 'fa' | 'en' = 'fa') =>
  setSellerTemplates(admin, seller.seller_id, { locale, set, remove: [] });

/** The templates as a send reads them. */
const readBySend = async ({ table }: TestAdministration['admin']) =>
  (await codeSends(table).read({ phoneHash: 'phone', audience: seller.seller_id }, [], 0)).templates;

describe('setSellerTemplates', () => {
  it('stores what the next send reads', async () => {
    await setIn(deployment.admin, { kavenegar: 'kaveh-books', 'sms-ir': 200_001 });
    await setIn(deployment.admin, { kavenegar: 'kaveh-books-en' }, 'en');
    expect(await readBySend(deployment.admin)).toEqual({
      kavenegar: { fa: 'kaveh-books', en: 'kaveh-books-en' },
      'sms-ir': { fa: 200_001 },
    });
  });

  it('keeps the counts of users that are linked at the same moment', async () => {
    const meanwhile = () => linkBuyer(deployment.table, seller.seller_id, 'a phone');
    await deployment.beforeEachWrite(meanwhile, () => setIn(deployment.admin, { kavenegar: 'kaveh-books' }));
    expect(await deployment.admin.sellers.find(seller.seller_id)).toMatchObject({
      user_count: 1,
      event_count: 1,
    });
  });
});
