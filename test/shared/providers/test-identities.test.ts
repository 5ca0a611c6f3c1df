import {
  outcomeOfPerson,
  outcomeOfPhone,
  PERSON_OUTCOMES,
  PHONE_OUTCOMES,
  registersInSandbox,
  testNationalId,
  testPhone,
} from '#shared/providers/test-identities.ts';
import { completeNationalId, parseNationalId } from '#shared/values/national-id.ts';
import { parsePhone } from '#shared/values/phone.ts';

describe('test identities', () => {
  it.each(PERSON_OUTCOMES)(
    'include 1,010 persons with valid national ids for %s, each another one',
    (outcome) => {
      const people = Array.from({ length: 1010 }, (_, serial) => testNationalId(outcome, serial));
      expect(new Set(people).size).toBe(1010);
      expect(people.map(parseNationalId)).toEqual(people);
      expect(people.map(outcomeOfPerson)).toEqual(Array(1010).fill(outcome));
    },
  );

  it.each(PHONE_OUTCOMES)('include 1,100 valid phones for %s, each another one', (outcome) => {
    const phones = Array.from({ length: 1100 }, (_, serial) => testPhone(outcome, serial));
    expect(new Set(phones).size).toBe(1100);
    expect(phones.map(parsePhone)).toEqual(phones);
    expect(phones.map(outcomeOfPhone)).toEqual(Array(1100).fill(outcome));
  });

  it('include 1,100 phones that never register in the sandbox, and every other phone registers', () => {
    const never = ['+989999990700', '+989999990799', '+989999807000', '+989999807999'];
    const others = ['+989990001003', '+989999990600', '+989999990800', '+989999806999', '+989999808000'];
    expect(never.map(registersInSandbox)).toEqual(never.map(() => false));
    expect(others.map(registersInSandbox)).toEqual(others.map(() => true));
    // Nothing else is special about them: a code is sent as to any other phone.
    expect(never.map(outcomeOfPhone)).toEqual(never.map(() => undefined));
  });

  it('include no other person and no other phone', () => {
    const others = [
      '001234567',
      '999000001',
      '999999001',
      '999999110',
      '999999998',
      '999800000',
      '999811000',
    ].map(completeNationalId);
    expect(others.map(outcomeOfPerson)).toEqual(others.map(() => undefined));
    expect(
      ['+989121234567', '+989990000001', '+989999990001', '+989999800000', '+989999807000'].map(
        outcomeOfPhone,
      ),
    ).toEqual(Array(5).fill(undefined));
  });
});
