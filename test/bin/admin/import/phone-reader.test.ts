import fc from 'fast-check';
import { parseRow, readPhone } from '#bin/admin/import/phone-reader.ts';

describe('the phone reader', () => {
  it.each([
    ['a,b,,c', ['a', 'b', '', 'c']],
    ['"a,b",c', ['a,b', 'c']],
    ['"he said ""yes""",c', ['he said "yes"', 'c']],
    ['a,', ['a', '']],
    ['', ['']],
    ['""', ['']],
  ])('parses the row %j', (line, cells) => {
    expect(parseRow(line, ',')).toEqual(cells);
  });

  it.each(['"a', 'a,"b', '"a""', 'a"b,c', '"a"b'])('rejects the row %j, whose quotes are wrong', (line) => {
    expect(parseRow(line, ',')).toBeUndefined();
  });

  it('parses every row that is written by the rules of RFC 4180', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string().map((text) => text.replace(/[\r\n]/g, '')),
          { minLength: 1 },
        ),
        fc.constantFrom(',' as const, ';' as const, '\t' as const),
        (cells, delimiter) => {
          const line = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter);
          expect(parseRow(line, delimiter)).toEqual(cells);
        },
      ),
    );
  });

  it('rejects a line of 65,001 quotes, and one that is longer than 64 KiB', () => {
    const format = { kind: 'csv', delimiter: ',', column: 0 } as const;
    expect(readPhone('"'.repeat(65_001), format)).toEqual({ reason: 'a quote is not closed' });
    expect(readPhone('9'.repeat(65_537), format)).toEqual({ reason: 'the line is too long' });
  });
});
