import { jest } from '@jest/globals';
import * as v from 'valibot';
import {
  birthDateSchema,
  displayNameSchema,
  nationalIdSchema,
  newUserSchema,
  phoneSchema,
  userPageQuerySchema,
} from '#shared/users/schema.ts';

const sara = {
  national_id: '9990000018',
  birth_date: '1370/01/15',
  phone: '0999 000 0001',
  display_name: ' Sara ',
};

/** The fields that are wrong, in the order of the schema, once for each fault. */
const faultyFields = (schema: v.GenericSchema, sent: unknown) =>
  (v.safeParse(schema, sent).issues ?? []).map((issue) => issue.path?.[0]?.key);

describe('newUserSchema', () => {
  it('gives each field as its parser reads it', () => {
    expect(v.parse(newUserSchema, sara)).toEqual({
      national_id: '9990000018',
      birth_date: { text: '1370/1/15', isoDay: '1991-04-04', jalali: { year: 1370, month: 1, day: 15 } },
      phone: '+989990000001',
      display_name: 'Sara',
    });
  });

  it('names every faulty field at once, each with one fault', () => {
    const faulty = { national_id: '1', birth_date: 'x', phone: ' ', display_name: '' };
    expect(faultyFields(newUserSchema, faulty)).toEqual([
      'national_id',
      'birth_date',
      'phone',
      'display_name',
    ]);
  });

  it('names every missing field at once', () => {
    expect(faultyFields(newUserSchema, {})).toEqual(['national_id', 'birth_date', 'phone', 'display_name']);
  });

  it('refuses a field that it does not know', () => {
    expect(faultyFields(newUserSchema, { ...sara, nationalId: '9990000018' })).toEqual(['nationalId']);
  });

  const fields = Object.keys(sara) as (keyof typeof sara)[];
  const notStrings = [9_990_000_018, 1370.5, true, null, ['9990000018'], { text: '9990000018' }];

  it.each(fields.flatMap((field) => notStrings.map((value) => [field, value] as const)))(
    'refuses a %s that is no string: %j',
    (field, value) => {
      const { issues } = v.safeParse(newUserSchema, { ...sara, [field]: value });
      expect(issues?.map(({ message, path }) => [path?.[0]?.key, message])).toEqual([
        [field, 'Must be a string.'],
      ]);
    },
  );

  it('says what a field must be, and never what was sent', () => {
    const sent = {
      national_id: '9990000019',
      birth_date: '1404/12/30',
      phone: '02112345678',
      display_name: 'a\tb',
    };
    const messages = (v.safeParse(newUserSchema, sent).issues ?? []).map(({ message }) => message);
    expect(messages).toHaveLength(4);
    expect(Object.values(sent).filter((value) => messages.join().includes(value))).toEqual([]);
  });
});

describe('birthDateSchema', () => {
  const isTaken = (text: string, nowIso: string): boolean => {
    jest.useFakeTimers({ now: Date.parse(nowIso) });
    return v.is(birthDateSchema, text);
  };
  afterEach(() => jest.useRealTimers());

  it.each(['2026/11/22', '1405/9/1'])(
    'takes %s from the midnight on with which it begins in Tehran',
    (text) => {
      expect(isTaken(text, '2026-11-21T20:29:59.999Z')).toBe(false);
      expect(isTaken(text, '2026-11-21T20:30:00.000Z')).toBe(true);
    },
  );

  it('reports a day in the future as just that', () => {
    const { issues } = v.safeParse(birthDateSchema, '2199/12/31');
    expect(issues?.map(({ message }) => message)).toEqual(['Must not be in the future.']);
  });
});

describe('the published patterns', () => {
  it.each([
    ['a national id', nationalIdSchema, ['9990000018', '۹۹۹۰۰۰۰۰۱۸', '٩٩٩٠٠٠٠٠١٨']],
    ['a birth date', birthDateSchema, ['1370/1/15', '1991/04/04', '۱۳۷۰/۰۱/۱۵']],
    ['a phone', phoneSchema, ['+989990000001', '0999-000 0001', '+٩٨ ۹۹۹-0000001']],
    ['a name', displayNameSchema, ['س', ' Sara ', 'ا\u200cب']],
  ] as const)('refuse no spelling of %s that the service takes', (_what, schema, spellings) => {
    const { pattern } = v.getMetadata(schema) as { pattern: string };
    expect(spellings.filter((text) => !v.is(schema, text))).toEqual([]);
    expect(spellings.filter((text) => !new RegExp(pattern, 'u').test(text))).toEqual([]);
  });
});

describe('userPageQuerySchema', () => {
  it('is the first page of twenty if nothing is said', () => {
    expect(v.parse(userPageQuerySchema, {})).toEqual({ page: 1, page_size: 20 });
  });

  it.each([
    ['the least', '1', '1', { page: 1, page_size: 1 }],
    ['the most', '9007199254740991', '100', { page: 9_007_199_254_740_991, page_size: 100 }],
  ])('takes %s', (_case, page, page_size, expected) => {
    expect(v.parse(userPageQuerySchema, { page, page_size })).toEqual(expected);
  });

  const notWhole = [
    '',
    '0',
    '-1',
    '+1',
    '01',
    '00',
    '1.0',
    '1.',
    '1e1',
    '0x1',
    ' 1',
    '1 ',
    '1\n',
    '1,000',
    '1_000',
    '۱',
    '١',
    '１',
    'one',
    'null',
    'NaN',
    'Infinity',
    '1;1',
    '9007199254740992',
    '9007199254740993',
    '9'.repeat(400),
  ];

  it.each(notWhole)('refuses the number %j, for page and page_size alike', (text) => {
    expect(faultyFields(userPageQuerySchema, { page: text, page_size: text })).toEqual(['page', 'page_size']);
  });

  it('refuses a page of more than a hundred', () => {
    expect(faultyFields(userPageQuerySchema, { page_size: '101' })).toEqual(['page_size']);
  });

  it('refuses a parameter that it does not know', () => {
    expect(faultyFields(userPageQuerySchema, { pageSize: '10' })).toEqual(['pageSize']);
  });
});
