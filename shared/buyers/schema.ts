import * as v from 'valibot';
import { shown, time } from '#shared/fields.ts';
import { birthDateSchema, nationalIdSchema } from '#shared/values/schemas.ts';

export const claimedPersonSchema = v.strictObject({
  national_id: nationalIdSchema,
  birth_date: birthDateSchema,
});

const linkIdSchema = shown(
  'The id of the link: lnk_ and 22 characters. It stays the same when the seller removes the user and links it again.',
  'lnk_2Yh0c9QmVnTqk3bJx1LwZA',
);

/** An id of another form is accepted: it names no link, so the response is 204 as well. */
export const linkPathSchema = v.strictObject({ id: linkIdSchema });

export const buyerLinksSchema = v.pipe(
  v.object({
    data: v.array(
      v.pipe(
        v.object({
          id: linkIdSchema,
          seller: v.object({
            id: shown('The id of the seller.', 'sel_Wi3Nk0hiK4zJCrGGFdK7ps'),
            name: shown('The name of the seller.', 'Kaveh Books'),
          }),
          display_name: shown('The name under which the seller linked the buyer.', 'Sara Ahmadi'),
          linked_at: time('The time of the link, in UTC.', '2026-11-21T08:30:00.000Z'),
        }),
        v.title('BuyerLink'),
      ),
    ),
  }),
  v.title('BuyerLinks'),
);
