import fc from 'fast-check';
import { DELIMITERS, parseRow } from '#bin/admin/import/csv-row.ts';

it.each([
  ['a,b,,c', ['a', 'b', '', 'c']],
  ['"a,b",c', ['a,b', 'c']],
  ['"he said ""yes""",c', ['he said "yes"', 'c']],
  ['', ['']],
  ['""', ['']],
])('%j', (line, cells) => {
  expect(parseRow(line, ',')).toEqual(cells);
});

it.each(['"a', 'a,"b', '"a""'])('%j has a quote that is not closed', (line) => {
  expect(parseRow(line, ',')).toBeUndefined();
});

it('reads back whatever was written by the rules of RFC 4180', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string().map((text) => text.replace(/[\r\n]/g, '')),
        { minLength: 1 },
      ),
      fc.constantFrom(...DELIMITERS),
      (cells, delimiter) => {
        const line = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter);
        expect(parseRow(line, delimiter)).toEqual(cells);
      },
    ),
  );
});
