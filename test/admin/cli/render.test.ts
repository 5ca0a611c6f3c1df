import { stripVTControlCharacters } from 'node:util';
import { parse } from 'csv-parse/sync';
import { render } from '#admin/cli/render.ts';

const on = (columns: number | undefined, hasColor = false) => ({ columns, hasColor });

const SELLERS = {
  items: 'sellers',
  rows: [
    {
      seller_id: 'sel_1',
      name: 'Kaveh Books of Tehran',
      status: 'active',
      created_at: '2026-11-21T12:00:30Z',
    },
    { seller_id: 'sel_2', name: 'کتاب‌فروشی کاوه', status: 'suspended', created_at: '2026-11-22T12:00:30Z' },
  ],
  fields: ['seller_id', 'name', 'status', 'created_at'],
  optional: 1,
};

const lines = (text: string): string[] => text.split('\n');

describe('render', () => {
  it('aligns the columns of a table, also under names that are not Latin', () => {
    expect(lines(render(SELLERS, on(80)))).toEqual([
      'seller  name                   status     created (UTC)',
      'sel_1   Kaveh Books of Tehran  active     2026-11-21 12:00',
      'sel_2   کتاب‌فروشی کاوه         suspended  2026-11-22 12:00',
      '',
    ]);
  });

  it('leaves out optional columns, then wraps the widest one between words, then shows rows as lists', () => {
    expect(lines(render(SELLERS, on(48)))[0]).toBe('seller  name                   status');
    expect(lines(render(SELLERS, on(33))).slice(0, 3)).toEqual([
      'seller  name            status',
      'sel_1   Kaveh Books of  active',
      '        Tehran',
    ]);
    expect(lines(render(SELLERS, on(20))).slice(0, 3)).toEqual([
      'seller         sel_1',
      'name           Kaveh',
      '               Books',
    ]);
  });

  it('never exceeds the terminal', () => {
    for (let columns = 20; columns <= 80; columns += 1) {
      const widths = lines(render(SELLERS, on(columns))).map((line) => line.length);
      expect(Math.max(...widths)).toBeLessThanOrEqual(columns + 1);
    }
  });

  it('cuts a word that is longer than the terminal into lines, by its width on the terminal', () => {
    expect(render({ item: { name: 'x'.repeat(25) } }, on(20))).toBe(
      `name  ${'x'.repeat(14)}\n      ${'x'.repeat(11)}\n`,
    );
    expect(lines(render({ item: { name: '書'.repeat(20) } }, on(20)))).toEqual([
      `name  ${'書'.repeat(7)}`,
      `      ${'書'.repeat(7)}`,
      `      ${'書'.repeat(6)}`,
      '',
    ]);
  });

  it('shows a sentence in place of a table without rows on a terminal, and the headings in a pipe', () => {
    expect(render({ ...SELLERS, rows: [] }, on(80, true))).toBe('No sellers.\n');
    expect(render({ ...SELLERS, rows: [] }, on(undefined))).toBe('seller_id\tname\tstatus\tcreated_at\n');
    expect(render({ item: {} }, on(80))).toBe('');
  });

  it('shows lists, numbers, truth and missing values as words, and writes them to a pipe as JSON has them', () => {
    const item = { scopes: ['a', 'b'], limit: 10_000, overridden: true, expires_at: null, region: null };
    expect(render({ item }, on(80))).toBe(
      'scopes         a b\nlimit          10,000\noverridden     yes\nexpires (UTC)  never\nregion         –\n',
    );
    expect(render([{ item }, 'Done.\n'], on(undefined))).toBe(
      'scopes\ta b\nlimit\t10000\noverridden\ttrue\nexpires_at\t\nregion\t\n\nDone.\n',
    );
  });

  it('writes cells to a pipe that a spreadsheet reads as the same text, and runs none as a formula', () => {
    const cells = {
      ...{ '=1+1': "'=1+1", '@SUM(A1)': "'@SUM(A1)", '+cmd|calc': "'+cmd|calc", '-2+3': "'-2+3" },
      ...{ '"=1+1"': `'"=1+1"`, '＝1+1': "'＝1+1", ' ＠a': "' ＠a", '\t=1+1': "' =1+1", "'=1": "''=1" },
      ...{ '+989121234567': '+989121234567', '-12.5': '-12.5', '-': '-', 'a=b': 'a=b', 'a "b" c': 'a "b" c' },
      ...{ 'a\tb\nc': 'a b c' },
    };
    const rows = Object.keys(cells).map((name) => ({ name, status: 'active' }));
    const text = render({ items: 'keys', rows, fields: ['name', 'status'] }, on(undefined, true));
    const read: string[][] = parse(text, { delimiter: '\t' });
    expect(read).toEqual([['name', 'status'], ...Object.values(cells).map((cell) => [cell, 'active'])]);
  });

  it('adds color to headings and statuses only where the terminal supports it', () => {
    const colored = render(SELLERS, on(80, true));
    expect(colored).toContain('\u001b[32mactive\u001b[39m');
    expect(colored).toContain('\u001b[31msuspended\u001b[39m');
    expect(stripVTControlCharacters(colored)).toBe(render(SELLERS, on(80)));
    expect(render({ item: { status: 'revoked' } }, on(80, true))).toContain('\u001b[31mrevoked');
  });
});
