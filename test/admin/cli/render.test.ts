import { stripVTControlCharacters } from 'node:util';
import { render } from '#admin/cli/render.ts';

const on = (columns: number | undefined, hasColor = false) => ({ columns, hasColor });

const SELLERS = {
  head: ['seller', 'name', 'status', 'created (UTC)'],
  rows: [
    ['sel_1', 'Kaveh Books of Tehran', 'active', '2026-11-21 12:00'],
    ['sel_2', 'کتاب‌فروشی کاوه', 'suspended', '2026-11-22 12:00'],
  ],
  items: 'sellers',
  optional: 1,
};

describe('render', () => {
  it('aligns the columns of a table, also under names that are not Latin', () => {
    expect(render(SELLERS, on(80))).toBe(
      [
        'seller  name                   status     created (UTC)',
        'sel_1   Kaveh Books of Tehran  active     2026-11-21 12:00',
        'sel_2   کتاب‌فروشی کاوه         suspended  2026-11-22 12:00',
        '',
      ].join('\n'),
    );
  });

  it('wraps the widest cells between words if a table is wider than the terminal', () => {
    expect(render(SELLERS, on(48)).split('\n').slice(0, 3)).toEqual([
      'seller  name           status     created (UTC)',
      'sel_1   Kaveh Books    active     2026-11-21',
      '        of Tehran                 12:00',
    ]);
  });

  it('leaves out optional columns before it shows rows as lists, and never exceeds the terminal', () => {
    expect(render(SELLERS, on(33)).split('\n')[0]).toBe('seller  name            status');
    expect(render(SELLERS, on(20)).split('\n').slice(0, 4)).toEqual([
      'seller         sel_1',
      'name           Kaveh',
      '               Books',
      '               of Te',
    ]);
    for (let columns = 20; columns <= 80; columns += 1) {
      const widths = render(SELLERS, on(columns))
        .split('\n')
        .map((line) => line.length);
      expect(Math.max(...widths)).toBeLessThanOrEqual(columns + 1);
    }
  });

  it('cuts a word that is longer than the terminal into lines', () => {
    expect(render({ properties: [['name', 'x'.repeat(25)]] }, on(20))).toBe(
      `name  ${'x'.repeat(14)}\n      ${'x'.repeat(11)}\n`,
    );
  });

  it('cuts a word of wide characters by its width on the terminal', () => {
    const lines = render({ properties: [['name', '書'.repeat(20)]] }, on(20)).split('\n');
    expect(lines).toEqual([
      `name  ${'書'.repeat(7)}`,
      `      ${'書'.repeat(7)}`,
      `      ${'書'.repeat(6)}`,
      '',
    ]);
  });

  it('shows a sentence in place of a table without rows on a terminal, and the headings in a pipe', () => {
    expect(render({ ...SELLERS, rows: [] }, on(80, true))).toBe('No sellers.\n');
    expect(render({ ...SELLERS, rows: [] }, on(undefined))).toBe('seller\tname\tstatus\tcreated (UTC)\n');
    expect(render({ properties: [] }, on(80))).toBe('');
  });

  it('writes tab-separated values to a pipe, one line per row, without color', () => {
    const table = { head: ['name', 'status'], rows: [['a\tb\nc', 'active']], items: 'keys' };
    expect(render(table, on(undefined, true))).toBe('name\tstatus\na b c\tactive\n');
    expect(render([{ properties: [['2026-11-21', 0]] }, 'Done.\n'], on(undefined))).toBe(
      '2026-11-21\t0\n\nDone.\n',
    );
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['+cmd|calc', "'+cmd|calc"],
    ['-2+3', "'-2+3"],
    ['\t=1+1', "' =1+1"],
    ['\r=1+1', "' =1+1"],
    ['+989121234567', '+989121234567'],
    ['-12.5', '-12.5'],
    [-12, '-12'],
    ['-', '-'],
    ['a=b', 'a=b'],
  ])('writes the cell %j to a pipe as %s, which no spreadsheet runs', (cell, written) => {
    const table = { head: ['name'], rows: [[cell]], items: 'keys' };
    expect(render(table, on(undefined))).toBe(`name\n${written}\n`);
  });

  it('adds color to headings and statuses only where the terminal supports it', () => {
    const colored = render(SELLERS, on(80, true));
    expect(colored).toContain('\u001b[32mactive\u001b[39m');
    expect(colored).toContain('\u001b[31msuspended\u001b[39m');
    expect(stripVTControlCharacters(colored)).toBe(render(SELLERS, on(80)));
    expect(render({ properties: [['status', 'revoked']] }, on(80, true))).toContain('\u001b[31mrevoked');
  });
});
