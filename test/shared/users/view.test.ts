import * as v from 'valibot';
import { userSchema } from '#shared/users/schema.ts';
import { viewOf } from '#shared/users/view.ts';

describe('viewOf', () => {
  it('shows a user as the contract does, the national id masked', () => {
    const user = {
      id: 'usr_0000000000000000000001',
      nationalIdLastFour: '0018',
      birthDate: '1370/1/15',
      phone: '+989990000001',
      displayName: 'Sara',
      createdAt: '2026-11-21T08:00:00.000Z',
    };
    const view = viewOf(user);
    expect(view).toEqual({
      id: 'usr_0000000000000000000001',
      national_id: '******0018',
      birth_date: '1370/1/15',
      phone: '+989990000001',
      display_name: 'Sara',
      created_at: '2026-11-21T08:00:00.000Z',
    });
    expect(v.is(userSchema, view)).toBe(true);
  });
});
