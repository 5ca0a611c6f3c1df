import { completeNationalId } from '#shared/values/national-id.ts';
import { toArabicDigits, toPersianDigits } from '#test/scenarios/buyers.ts';
import { newDemoPerson } from '#test/simulators/people.ts';

const HEADER = ['customer', 'national id', 'birth date', 'phone', 'name'];

/** How files write `9991234567`. */
const PHONES: readonly ((digits: string) => string)[] = [
  (digits) => `+98${digits}`,
  (digits) => `0098${digits}`,
  (digits) => `98${digits}`,
  (digits) => digits,
  (digits) => `0${digits}`,
  (digits) => `0${digits.slice(0, 3)}-${digits.slice(3, 6)}-${digits.slice(6)}`,
  (digits) => `(0${digits.slice(0, 3)}) ${digits.slice(3, 6)} ${digits.slice(6)}`,
  (digits) => `+98 (0) ${digits.slice(0, 3)} ${digits.slice(3)}`,
  (digits) => `0(${digits.slice(0, 3)})${digits.slice(3)}`,
  (digits) => toPersianDigits(`0${digits}`),
  (digits) => toArabicDigits(`0098 ${digits}`),
];

const withHyphens = (id: string): string => `${id.slice(0, 3)}-${id.slice(3, 9)}-${id.slice(9)}`;
const withLeadingZeros = (id: string): string => completeNationalId(`00${id.slice(2, 9)}`);

const NATIONAL_IDS: readonly ((id: string) => string)[] = [
  (id) => id,
  withHyphens,
  (id) => toPersianDigits(withHyphens(id)),
  withLeadingZeros,
  toArabicDigits,
];

const BIRTH_DATES = ['1370/1/15', '1370-01-15', '1370/01/15', '۱۳۷۰/۱/۱۵', '1991/4/4', '1991-04-04'];
const NAMES = [
  'سارا احمدی',
  '"Karimi; Reza"',
  '"مینا ""مینو"" رضایی"',
  '\u200fعلی\u200c ',
  ' Sara O\u2019Neil ',
];

/** What has two meanings, by the number of its row. */
const AMBIGUOUS: Readonly<Record<number, { column: number; form: (value: string) => string; code: string }>> =
  {
    10: { column: 2, form: () => '13700115', code: 'validation_failed birth_date invalid' },
    25: { column: 2, form: () => '15/1/1370', code: 'validation_failed birth_date invalid' },
    40: { column: 2, form: () => '70/1/15', code: 'validation_failed birth_date invalid' },
    // Its check digit says which zeros are lost.
    55: { column: 1, form: (id) => withLeadingZeros(id).slice(2), code: 'linked' },
  };

const at = <T>(values: readonly T[], index: number): T => values[index % values.length] as T;

/** Sixty generated customers in the forms that files of sellers have, their phones, and the code that each row gets, in order. */
export const sixtyCustomers = () => {
  const people = Array.from({ length: 60 }, newDemoPerson);
  const rows = people.map(({ national_id, phone }, index) => {
    const id = at(NATIONAL_IDS, index)(national_id);
    const cells = [`c${phone.slice(6)}`, id, at(BIRTH_DATES, index), at(PHONES, index)(phone.slice(3))];
    const { column, form } = AMBIGUOUS[index] ?? {};
    if (column !== undefined && form !== undefined) cells[column] = form(national_id);
    return [...cells, at(NAMES, index)];
  });
  return {
    // Excel ends lines so.
    text: `\uFEFF${[HEADER, ...rows].map((cells) => `${cells.join(';')}\r\n`).join('')}`,
    phones: people.map(({ phone }) => phone),
    codes: people.map((_, index) => AMBIGUOUS[index]?.code ?? 'linked'),
  };
};
