import { refusal } from '#admin/refusal.ts';
import { toAsciiDigits } from '#shared/digits.ts';

/** The content of a line: a phone in E.164, nothing, or an error. */
export type Reading = { readonly phone: string } | { readonly reason: string } | 'blank';

/** The delimiters of CSV files; spreadsheets choose by their language. */
const DELIMITERS = [',', ';', '\t'] as const;

/** How the lines of a file are read. */
export type Format =
  | { readonly kind: 'jsonl' }
  | { readonly kind: 'csv'; readonly delimiter: (typeof DELIMITERS)[number]; readonly column: number };

const PHONE_COLUMNS = ['phone', 'phone_number', 'mobile', 'msisdn'];

/** No line with a phone is longer. */
const MAX_LINE_LENGTH = 64 * 1024;

/** The forms in exports: those of the API, `00989…`, `989…`, and `9…`, since spreadsheets drop a leading zero. */
const MOBILE = /^(?:\+98|0098|98|0)?(9[0-9]{9})$/;

/** Parses a phone of an export into E.164; undefined if it is not an Iranian mobile number. */
const importedPhone = (text: string): string | undefined => {
  const national = MOBILE.exec(toAsciiDigits(text).replace(/[\s()-]/g, ''))?.[1];
  return national === undefined ? undefined : `+98${national}`;
};

const CELL = { ',': cellBefore(','), ';': cellBefore(';'), '\t': cellBefore('\t') };

function cellBefore(delimiter: string): RegExp {
  return new RegExp(`(?:"((?:[^"]|"")*)"|([^"${delimiter}]*))(${delimiter}|$)`, 'y');
}

/**
 * Returns the cells of one line (RFC 4180); undefined if a quote is not closed or is inside an unquoted cell. csv-parse is not used:
 * to it an unclosed quote makes one record of all lines that follow, while here it must cost one line of the list.
 */
export const parseRow = (line: string, delimiter: keyof typeof CELL): string[] | undefined => {
  const pattern = CELL[delimiter];
  const cells: string[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(line); match !== null; match = pattern.exec(line)) {
    const [, quoted, plain = '', end] = match;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '') return cells;
  }
  return undefined;
};

const MAX_COLUMNS_LISTED = 20;

/** A cell of the first line for an error. Without a heading it may be data, so a cell with several digits is not shown. */
const shownCell = (cell: string): string =>
  /(?:\p{Nd}.*){4}/u.test(cell) ? '(a number)' : cell.slice(0, 40);

/** Determines how a CSV file is read, from its first line, and whether that line is a heading. Throws `bad_input`. */
export const csvFormat = (
  line: string,
  columnName: string | undefined,
): { readonly format: Format; readonly hasHeading: boolean } => {
  const delimiter = DELIMITERS.find((candidate) => line.includes(candidate)) ?? ',';
  const cells = (parseRow(line, delimiter) ?? []).map((cell) => cell.trim());
  const wanted = columnName === undefined ? PHONE_COLUMNS : [columnName.toLowerCase()];
  const named = cells.findIndex((cell) => wanted.includes(cell.toLowerCase()));
  if (named !== -1) return { format: { kind: 'csv', delimiter, column: named }, hasHeading: true };
  const first = cells.findIndex((cell) => importedPhone(cell) !== undefined);
  if (columnName !== undefined || first === -1) {
    const columns = cells.slice(0, MAX_COLUMNS_LISTED).map(shownCell).join(', ');
    throw refusal(
      'bad_input',
      `The first line has no column ${wanted.join(' or ')}. Name one with --column. Its columns are: ${columns}.`,
    );
  }
  return { format: { kind: 'csv', delimiter, column: first }, hasHeading: false };
};

const fromText = (text: unknown): Reading => {
  if (typeof text !== 'string') return { reason: 'the phone is not a string' };
  if (text.trim() === '') return { reason: 'no phone' };
  const phone = importedPhone(text);
  return phone === undefined ? { reason: 'not an Iranian mobile number' } : { phone };
};

const fromJson = (text: string): Reading => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { reason: 'not JSON' };
  }
  if (typeof value === 'string') return fromText(value);
  if (typeof value !== 'object' || value === null || !('phone' in value)) return { reason: 'no phone' };
  return fromText(value.phone);
};

/** Reads one line. The reason of an error never contains what the line contains. */
export const readPhone = (line: string, format: Format): Reading => {
  if (line.length > MAX_LINE_LENGTH) return { reason: 'the line is too long' };
  if (line.trim() === '') return 'blank';
  if (format.kind === 'jsonl') return fromJson(line);
  const cells = parseRow(line, format.delimiter);
  return cells === undefined ? { reason: 'a quote is not closed' } : fromText(cells[format.column] ?? '');
};
