import {
  outcomeOfPerson,
  outcomeOfPhone,
  PERSON_OUTCOMES,
  PHONE_OUTCOMES,
  testNationalId,
  testPhone,
} from '#shared/providers/test-identities.ts';
import { completeNationalId, parseNationalId } from '#shared/users/national-id.ts';
import { parsePhone } from '#shared/users/phone.ts';

describe('test identities', () => {
  it.each(PERSON_OUTCOMES)('include ten persons with valid national ids for %s', (outcome) => {
    const people = Array.from({ length: 10 }, (_, serial) => testNationalId(outcome, serial));
    expect(people.map(parseNationalId)).toEqual(people);
    expect(people.map(outcomeOfPerson)).toEqual(Array(10).fill(outcome));
  });

  it.each(PHONE_OUTCOMES)('include a hundred valid phones for %s', (outcome) => {
    const phones = Array.from({ length: 100 }, (_, serial) => testPhone(outcome, serial));
    expect(phones.map(parsePhone)).toEqual(phones);
    expect(phones.map(outcomeOfPhone)).toEqual(Array(100).fill(outcome));
  });

  it('include no other person and no other phone', () => {
    const others = ['001234567', '999000001', '999999001', '999999110', '999999998'].map(completeNationalId);
    expect(others.map(outcomeOfPerson)).toEqual(others.map(() => undefined));
    expect(['+989121234567', '+989990000001', '+989999990001'].map(outcomeOfPhone)).toEqual(
      Array(3).fill(undefined),
    );
  });
});
