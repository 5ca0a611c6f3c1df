import * as v from 'valibot';
import { userSchema } from '#shared/users/schema.ts';
import { userFrom } from '#shared/users/user-item.ts';

describe('userFrom', () => {
  it('returns a user as the contract shows it, with a masked national id and nothing else of the item', () => {
    const item = {
      pk: 'USERS#sel_test',
      sk: '000000000001',
      id: 'usr_0000001aaaaabbbbbccccc',
      national_id_last_four: '0018',
      birth_date: '1370/1/15',
      phone: '+989990000001',
      display_name: 'Sara',
      created_at: '2026-11-21T08:00:00.000Z',
      checked_at: '2026-11-21T08:00:01.000Z',
      person_hash: 'hash of the person',
      phone_hash: 'hash of the phone',
    };
    const user = userFrom(item);
    expect(user).toEqual({
      id: 'usr_0000001aaaaabbbbbccccc',
      external_id: null,
      national_id: '******0018',
      birth_date: '1370/1/15',
      phone: '+989990000001',
      display_name: 'Sara',
      created_at: '2026-11-21T08:00:00.000Z',
      checked_at: '2026-11-21T08:00:01.000Z',
    });
    expect(v.is(userSchema, user)).toBe(true);
    expect(userFrom({ ...item, external_id: 'order:1' }).external_id).toBe('order:1');
  });
});
