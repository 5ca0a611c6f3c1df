import { callerFrom } from '#shared/api-keys/caller.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { checkLimits } from '#shared/users/check-limits.ts';
import { callerContext } from '#test/functions/harness.ts';

const hashes = { sellerId: 'sel_1', person: new KeyedHash('person'), phone: new KeyedHash('phone') };

describe('checkLimits', () => {
  it('gives every limit that is read for a check another name, since the states are found by the name', () => {
    const { paidChecks, ofPerson } = checkLimits(
      callerFrom({ ...callerContext, scopes: 'users:write' }, 0),
      hashes,
      20,
    );
    const names = [...paidChecks, ...ofPerson].map(({ name }) => name);
    expect(names).toEqual([
      'paid-checks-per-day',
      'share-of-paid-checks-per-day',
      'count',
      'failed-checks',
      'begun-checks',
    ]);
  });
});
