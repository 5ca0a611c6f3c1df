import { readFile } from 'node:fs/promises';
import { FAULTS } from '#local/simulators/faults.ts';
import { PROVIDER_NAMES } from '#local/simulators/server.ts';
import {
  outcomeOfPerson,
  outcomeOfPhone,
  TEST_PEOPLE,
  TEST_PHONES,
  testNationalId,
  testPhone,
} from '#local/simulators/test-identities.ts';
import { completeNationalId, parseNationalId } from '#shared/users/national-id.ts';
import { parsePhone, toLocalPhone } from '#shared/users/phone.ts';

const page = await readFile(new URL('../../../docs/test-identities.md', import.meta.url), 'utf8');

/** Returns the rows of the table under a heading, each as a list of cells. */
const tableUnder = (heading: string): string[][] =>
  (page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '));

describe('the page about test identities', () => {
  it('lists every test person', () => {
    expect(tableUnder('People')).toEqual(
      TEST_PEOPLE.map(({ prefix, outcome, meaning, response }) => [
        `${prefix}..`,
        testNationalId(outcome),
        outcome,
        meaning,
        response,
      ]),
    );
  });

  it('lists every test phone', () => {
    expect(tableUnder('Phones')).toEqual(
      TEST_PHONES.map(({ prefix, outcome, meaning, response }) => [
        `${toLocalPhone(prefix)}..`,
        toLocalPhone(testPhone(outcome)),
        outcome,
        meaning,
        response,
      ]),
    );
  });

  it('lists every fault and every provider', () => {
    expect(tableUnder('Faults')).toEqual(
      Object.entries(FAULTS).map(([fault, meaning]) => [`\`${fault}\``, meaning]),
    );
    for (const provider of PROVIDER_NAMES) expect(page).toContain(`\`${provider}\``);
  });
});

describe('test identities', () => {
  it.each(TEST_PEOPLE)('include ten persons with valid national ids for $outcome', ({ outcome }) => {
    const people = Array.from({ length: 10 }, (_, serial) => testNationalId(outcome, serial));
    expect(people.map(parseNationalId)).toEqual(people);
    expect(people.map(outcomeOfPerson)).toEqual(Array(10).fill(outcome));
  });

  it.each(TEST_PHONES)('include a hundred valid phones for $outcome', ({ outcome }) => {
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
