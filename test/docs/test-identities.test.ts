import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import {
  outcomeOfPerson,
  PERSON_OUTCOMES,
  PHONE_OUTCOMES,
  registersInSandbox,
  testNationalId,
  testPhone,
} from '#shared/providers/test-identities.ts';
import { parseNationalId } from '#shared/values/national-id.ts';
import { parsePhone, toLocalPhone } from '#shared/values/phone.ts';
import { documentedOutcomes, rowsUnder } from './test-identities-page.ts';

describe('the page about test identities', () => {
  it('lists 20 people who match, each with a phone that registers and whose code is its last six digits', () => {
    const rows = rowsUnder('Good people');
    expect(new Set(rows.flat()).size).toBe(40);
    expect(rows).toHaveLength(20);
    for (const [nationalId = '', phone = ''] of rows) {
      expect(parseNationalId(nationalId)).toBe(nationalId);
      expect(outcomeOfPerson(nationalId)).toBeUndefined();
      const parsed = String(parsePhone(phone));
      expect([registersInSandbox(parsed), sandboxCode(parsed)]).toEqual([true, phone.slice(-6)]);
    }
  });

  it('lists every test person', () => {
    expect(documentedOutcomes('People who fail')).toEqual(
      PERSON_OUTCOMES.map((outcome) => ({
        prefix: `${testNationalId(outcome).slice(0, 8)}d., ${testNationalId(outcome, 10).slice(0, 6)}ddd.`,
        example: `${testNationalId(outcome)}, ${testNationalId(outcome, 10)}`,
        outcome,
        response: expect.stringMatching(/^\d{3} \w+/),
      })),
    );
  });

  it('lists every test phone', () => {
    expect(documentedOutcomes('Phones')).toEqual(
      PHONE_OUTCOMES.map((outcome) => ({
        prefix: `${toLocalPhone(testPhone(outcome)).slice(0, -2)}dd, ${toLocalPhone(testPhone(outcome, 100)).slice(0, -3)}ddd`,
        example: `${toLocalPhone(testPhone(outcome))}, ${toLocalPhone(testPhone(outcome, 100))}`,
        outcome,
        response: expect.stringMatching(/^\d{3} \w+/),
      })),
    );
  });

  it('names phones that never register, as the code has them', () => {
    const [patterns = '', examples = ''] = rowsUnder('Registration')[0] ?? [];
    expect(patterns.split(', ').map((pattern) => pattern.replaceAll('d', '0'))).toEqual(examples.split(', '));
    const phones = examples.split(', ').map((example) => String(parsePhone(example)));
    expect(phones.map(registersInSandbox)).toEqual([false, false]);
  });

  it('tells the codes of the sandbox', () => {
    const [phone = '', code] = rowsUnder('Sandbox')[0] ?? [];
    expect(sandboxCode(String(parsePhone(phone)))).toBe(code);
  });
});
