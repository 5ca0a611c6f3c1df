/** A file that a spreadsheet or another program exported, for the programs that read files of other people. */
interface ExportedFile {
  readonly form: string;
  readonly bytes: Buffer;
}

const lines = (rows: readonly (readonly string[])[], delimiter: string, end = '\r\n'): string =>
  rows.map((row) => row.join(delimiter) + end).join('');

const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

const withNote = (row: readonly string[]): readonly string[] => [...row, '"a; ""b"",\r\nc"'];

/** Returns a table in each form that programs must read alike. The first row names the columns; no cell needs quotes. */
export const exportedFiles = (rows: readonly (readonly string[])[]): readonly ExportedFile[] => {
  const [header = [], ...data] = rows;
  const text = (form: string, content: string): ExportedFile => ({ form, bytes: Buffer.from(content) });
  return [
    text('commas and line feeds', lines(rows, ',', '\n')),
    text('semicolons, and a mark of UTF-8 as Excel writes it', `\ufeff${lines(rows, ';')}`),
    text('two marks of UTF-8', `\ufeff\ufeff${lines(rows, ';')}`),
    text('the delimiter before the header', `sep=;\r\n${lines(rows, ';')}`),
    text('the delimiter before the header, after a mark', `\ufeffsep=;\r\n${lines(rows, ';')}`),
    text('carriage returns', lines(rows, ';', '\r')),
    text('no line break at the end', lines(rows, '\t').trimEnd()),
    text('a comma in the header of semicolons', lines([[...header, 'first, last'], ...data], ';')),
    text(
      'more commas than semicolons within a quoted name',
      lines([[...header, '"a, b, c, d"'], ...data], ';'),
    ),
    text('quoted cells with delimiters and line breaks', lines(rows.map(withNote), ',')),
    text('delimiters at the end of each row', lines(rows, ';', ';;\r\n')),
    text('blank rows', `${lines([header], ';')}\r\n${lines(data, ';', '\r\n;;;;\r\n \t\r\n')}`),
    {
      form: 'UTF-16 as "Unicode Text" of Excel',
      bytes: Buffer.from(`\ufeff${lines(rows, '\t')}`, 'utf16le'),
    },
    { form: 'UTF-16 of the other byte order', bytes: utf16be(`\ufeff${lines(rows, ';')}`) },
  ];
};

/** Files that no program may guess at. */
export const UNREADABLE: readonly ExportedFile[] = [
  { form: 'windows-1256', bytes: Buffer.from('phone;name\r\n09990001001;\xd3\xc7\xd1\xc7\r\n', 'latin1') },
  { form: 'half of a character', bytes: Buffer.from('\ufeffphone\n\ud83d\n', 'utf16le') },
  { form: 'a workbook', bytes: Buffer.from('504b0304140006000800000021f7a3b1', 'hex') },
];
