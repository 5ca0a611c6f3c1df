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

/** The rows of the table below a heading, each as its cells. */
const tableUnder = (heading: string): string[][] =>
  (page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '));

describe('the page about test identities', () => {
  it('shows the people that there are', () => {
    expect(tableUnder('People')).toEqual(
      TEST_PEOPLE.map(({ prefix, outcome, meaning, answer }) => [
        `${prefix}..`,
        testNationalId(outcome),
        outcome,
        meaning,
        answer,
      ]),
    );
  });

  it('shows the phones that there are', () => {
    expect(tableUnder('Phones')).toEqual(
      TEST_PHONES.map(({ prefix, outcome, meaning, answer }) => [
        `${toLocalPhone(prefix)}..`,
        toLocalPhone(testPhone(outcome)),
        outcome,
        meaning,
        answer,
      ]),
    );
  });

  it('shows the faults and the providers that there are', () => {
    expect(tableUnder('Faults')).toEqual(
      Object.entries(FAULTS).map(([fault, meaning]) => [`\`${fault}\``, meaning]),
    );
    for (const provider of PROVIDER_NAMES) expect(page).toContain(`\`${provider}\``);
  });
});

describe('test identities', () => {
  it.each(TEST_PEOPLE)('have ten people for $outcome, each with a valid national id', ({ outcome }) => {
    const people = Array.from({ length: 10 }, (_, serial) => testNationalId(outcome, serial));
    expect(people.map(parseNationalId)).toEqual(people);
    expect(people.map(outcomeOfPerson)).toEqual(Array(10).fill(outcome));
  });

  it.each(TEST_PHONES)('have a hundred phones for $outcome, each a valid one', ({ outcome }) => {
    const phones = Array.from({ length: 100 }, (_, serial) => testPhone(outcome, serial));
    expect(phones.map(parsePhone)).toEqual(phones);
    expect(phones.map(outcomeOfPhone)).toEqual(Array(100).fill(outcome));
  });

  it('are nobody else', () => {
    const others = ['001234567', '999000001', '999999001', '999999110', '999999998'].map(completeNationalId);
    expect(others.map(outcomeOfPerson)).toEqual(others.map(() => undefined));
    expect(['+989121234567', '+989990000001', '+989999990001'].map(outcomeOfPhone)).toEqual(
      Array(3).fill(undefined),
    );
  });
});
