import { render } from '#admin/cli/render.ts';

const SELLERS = {
  items: 'sellers',
  rows: [
    {
      seller_id: 'sel_1',
      name: 'Kaveh Books of Tehran',
      status: 'active',
      users: 2000,
      plan: 'free',
      created_at: '2026-11-21T12:00:30Z',
    },
    {
      seller_id: 'sel_2',
      name: 'کتاب‌فروشی کاوه',
      status: 'suspended',
      users: 1,
      plan: 'free',
      created_at: '2026-11-22T12:00:30Z',
    },
  ],
};

const lines = (text: string): string[] => text.split('\n');

describe('render', () => {
  it('aligns the columns of a table, also under names that are not Latin', () => {
    expect(lines(render(SELLERS, 80))).toEqual([
      'seller  name                   status     users  plan  created (UTC)',
      'sel_1   Kaveh Books of Tehran  active     2,000  free  2026-11-21 12:00',
      'sel_2   کتاب‌فروشی کاوه         suspended  1      free  2026-11-22 12:00',
      '',
    ]);
  });

  it('wraps names so that the columns after them stay beside them, where the table would be too wide', () => {
    const table = { ...SELLERS, fields: ['seller_id', 'name', 'status', 'users'] };
    expect(lines(render(table, 40)).slice(0, 3)).toEqual([
      'seller  name            status     users',
      'sel_1   Kaveh Books of  active     2,000',
      '        Tehran',
    ]);
  });

  it('shows the fields that a terminal has room for, and all of them on one line where there is no width', () => {
    const table = {
      ...SELLERS,
      fields: ['seller_id', 'name', 'plan'],
      terminalFields: ['name', 'seller_id'],
    };
    expect(lines(render(table, 80))[1]).toBe('Kaveh Books of Tehran  sel_1');
    const long = { items: 'keys', rows: [{ name: 'x '.repeat(200), status: 'active' }] };
    expect(lines(render(table, undefined))[1]).toBe('sel_1   Kaveh Books of Tehran  free');
    expect(lines(render(long, undefined))[1]).toBe(`${'x '.repeat(200)}  active`);
  });

  it('never exceeds the terminal', () => {
    for (let columns = 20; columns <= 80; columns += 1) {
      const widths = lines(render(SELLERS, columns)).map((line) => line.length);
      expect(Math.max(...widths)).toBeLessThanOrEqual(columns + 1);
    }
  });

  it('cuts a word that is longer than the terminal into lines, by its width on the terminal', () => {
    expect(render({ rows: [{ name: 'x'.repeat(25) }] }, 26)).toBe(
      `name  ${'x'.repeat(20)}\n      ${'x'.repeat(5)}\n`,
    );
    expect(lines(render({ rows: [{ name: '書'.repeat(25) }] }, 26))).toEqual([
      `name  ${'書'.repeat(10)}`,
      `      ${'書'.repeat(10)}`,
      `      ${'書'.repeat(5)}`,
      '',
    ]);
  });

  it('shows a sentence in place of a table without rows', () => {
    expect(render({ items: 'sellers', rows: [], fields: ['seller_id', 'name'] }, 80)).toBe('No sellers.\n');
    expect(render({ rows: [] }, 80)).toBe('');
  });

  it('shows control, bidi and tag characters escaped, keeps the joiners of names, and aligns what is shown', () => {
    const rows = [
      { name: 'a\u001b[2J\u009b\u007f\tb\nc', status: 'active' },
      { name: '\u202e\u2066\u200f\u061c\u2028\ufeff', status: 'active' },
      { name: '\u{e0041}', status: 'active' },
      { name: 'می\u200cخواهم', status: 'active' },
    ];
    const [, ...shown] = lines(render({ items: 'sellers', rows }, undefined));
    expect(shown.map((line) => line.trimEnd().replace(/ +active$/, ''))).toEqual([
      String.raw`a\u001b[2J\u009b\u007f\u0009b\u000ac`,
      String.raw`\u202e\u2066\u200f\u061c\u2028\ufeff`,
      String.raw`\udb40\udc41`,
      'می\u200cخواهم',
      '',
    ]);
  });

  it('shows lists, objects, numbers, truth and missing values as words', () => {
    const row = {
      scopes: ['a', 'b'],
      limit: 10_000,
      overridden: true,
      expires_at: null,
      last_used_on: null,
      region: null,
      is: { b: 2, a: 1 },
    };
    expect(render([{ rows: [row] }, 'Done.\n'], 80)).toBe(
      'scopes         a b\nlimit          10,000\noverridden     yes\nexpires (UTC)  never\nlast used on   –\nregion         –\nis             a: 1, b: 2\n\nDone.\n',
    );
  });
});
