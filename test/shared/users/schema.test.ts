import { mock } from 'node:test';
import * as v from 'valibot';
import { userPageQuerySchema } from '#shared/users/page-schema.ts';
import { newUserSchema } from '#shared/users/schema.ts';
import { birthDateSchema } from '#shared/values/schemas.ts';
import { itForAll } from '#test/for-all.ts';

const sara = {
  national_id: '9990000018',
  birth_date: '1370/01/15',
  phone: '0999 000 0001',
  display_name: ' Sara ',
};

/** The names of the wrong fields, in the order of the schema, one per fault. */
const faultyFields = (schema: v.GenericSchema, sent: unknown) =>
  (v.safeParse(schema, sent).issues ?? []).map((issue) => issue.path?.[0]?.key);

describe('newUserSchema', () => {
  it('returns each field as its parser reads it', () => {
    expect(v.parse(newUserSchema, sara)).toEqual({
      national_id: '9990000018',
      birth_date: { text: '1370/1/15', isoDay: '1991-04-04', jalali: { year: 1370, month: 1, day: 15 } },
      phone: '+989990000001',
      display_name: 'Sara',
    });
  });
});

describe('birthDateSchema', () => {
  const isTaken = (text: string, nowIso: string): boolean => {
    mock.timers.reset();
    mock.timers.enable({ apis: ['Date'], now: Date.parse(nowIso) });
    return v.is(birthDateSchema, text);
  };
  afterEach(() => mock.timers.reset());

  it.each(['2026/11/22', '1405/9/1'])('accepts %s from the midnight at which it begins in Tehran', (text) => {
    expect(isTaken(text, '2026-11-21T20:29:59.999Z')).toBe(false);
    expect(isTaken(text, '2026-11-21T20:30:00.000Z')).toBe(true);
  });

  it('reports a day in the future as a day in the future', () => {
    const { issues } = v.safeParse(birthDateSchema, '2199/12/31');
    expect(issues?.map(({ message }) => message)).toEqual(['Must not be in the future.']);
  });
});

describe('userPageQuerySchema', () => {
  it('defaults to 20 users, and leaves the page open, since it is not allowed beside after', () => {
    expect(v.parse(userPageQuerySchema, {})).toEqual({ page_size: 20 });
  });

  itForAll([
    ['the smallest page and page_size', '1', '1', { page: 1, page_size: 1 }],
    [
      'the largest page and page_size',
      '9007199254740991',
      '100',
      { page: 9_007_199_254_740_991, page_size: 100 },
    ],
  ])('accepts the smallest and the largest page and page size', (_case, page, page_size, expected) => {
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

  itForAll(notWhole)('rejects what is no whole number as page and as page_size', (text) => {
    expect(faultyFields(userPageQuerySchema, { page: text, page_size: text })).toEqual(['page', 'page_size']);
  });

  itForAll([
    '+989990000001',
    '0999 000 0001',
    '۰۹۹۹۰۰۰۰۰۰۱',
    ' 989990000001',
    ' ۹۸۹۹۹۰۰۰۰۰۰۱',
    ' 98 (999) 000 0001',
    '  989990000001',
    ' 09990000001',
    '\u202a+98 999 000 0001\u202c',
  ])('reads each spelling of a phone as E.164; a bare + in a query string arrives as a space', (phone) => {
    expect(v.parse(userPageQuerySchema, { phone })).toEqual({
      phone: '+989990000001',
      page_size: 20,
    });
  });

  const after = 'usr_000002bv0aLkW9yRc3mNpd';

  itForAll([
    ['a wrong phone beside an external id', { phone: '0', external_id: 'order:7' }, ['phone', 'external_id']],
    ['a wrong page beside a user id', { after, page: '0' }, ['after', 'page']],
    ['a wrong phone beside a user id', { after, phone: '0' }, ['after', 'phone']],
    ['a wrong external id beside a user id', { after, external_id: '!' }, ['after', 'external_id']],
  ])('names both of two parameters that exclude each other, also if one is wrong in itself', (...row) => {
    const [, sent, names] = row;
    expect(faultyFields(userPageQuerySchema, sent).toSorted()).toEqual(names.toSorted());
  });

  itForAll(['', ' ', '02112345678', ' 9999 000 0001'])('rejects text that is no phone', (phone) => {
    expect(faultyFields(userPageQuerySchema, { phone })).toEqual(['phone']);
  });
});
