import { personLimit, phoneLimit } from '#shared/rate-limits/person-limits.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';

describe('the limits of people', () => {
  const person = new KeyedHash('person-new', ['person-old']);
  const phone = new KeyedHash('phone-new', ['phone-old']);

  it('are counted under the current hash, for an hour after their window, and must be counted', () => {
    const ofPeople = { keptSeconds: 3600, limit: 5 };
    const ofPerson = {
      ...ofPeople,
      subject: 'person:sel_1#person-new',
      problem: 'too_many_attempts',
      reason: 'person_checks',
      whose: 'person',
    };
    expect([
      personLimit('begun-checks', 'sel_1', person),
      personLimit('failed-checks', 'sel_1', person),
    ]).toEqual([
      { ...ofPerson, name: 'begun-checks', windowSeconds: 60 },
      { ...ofPerson, name: 'failed-checks', windowSeconds: 86_400 },
    ]);
    const ofPhone = {
      ...ofPeople,
      subject: 'phone:phone-new',
      limit: 20,
      windowSeconds: 86_400,
    };
    expect([phoneLimit('searches', phone), phoneLimit('sms', phone)]).toEqual([
      { ...ofPhone, name: 'searches', problem: 'too_many_attempts', reason: 'searches', whose: 'phone' },
      { ...ofPhone, name: 'sms', problem: 'resend_too_soon', reason: 'phone_limit' },
    ]);
  });
});
