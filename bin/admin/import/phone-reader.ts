import { refusal } from '#admin/operations/refusal.ts';
import { toAsciiDigits } from '#shared/digits.ts';
import { DELIMITERS, type Delimiter, parseRow } from './csv-row.ts';
import type { Line } from './line-reader.ts';

/** What a line holds: a phone in E.164, nothing at all, or something that is wrong with it. */
export type Reading = { readonly phone: string } | { readonly reason: string } | 'blank';

/** How a file is read. It is kept in the checkpoint, for a later run begins in the middle. */
export type Format =
  | { readonly kind: 'jsonl' }
  | { readonly kind: 'csv'; readonly delimiter: Delimiter; readonly column: number };

const PHONE_COLUMNS = ['phone', 'phone_number', 'mobile', 'msisdn'];

/** As exports have it: besides what the API takes, `00989…`, `989…`, and `9…`, for a spreadsheet drops a leading zero. */
const MOBILE = /^(?:\+98|0098|98|0)?(9[0-9]{9})$/;

/** A phone as an export writes it, in E.164; undefined if it is none. */
export const importedPhone = (text: string): string | undefined => {
  const national = MOBILE.exec(toAsciiDigits(text).replace(/[\s()-]/g, ''))?.[1];
  return national === undefined ? undefined : `+98${national}`;
};

const withoutByteOrderMark = (text: string): string => text.replace(/^\ufeff/, '');

/** How a CSV file is read, from its first line; and whether that line is a heading. */
export const csvFormat = (
  firstLine: string,
  columnName: string | undefined,
): { readonly format: Format; readonly hasHeading: boolean } => {
  const line = withoutByteOrderMark(firstLine);
  const delimiter = DELIMITERS.find((candidate) => line.includes(candidate)) ?? ',';
  const cells = (parseRow(line, delimiter) ?? []).map((cell) => cell.trim());
  const wanted = columnName === undefined ? PHONE_COLUMNS : [columnName.toLowerCase()];
  const named = cells.findIndex((cell) => wanted.includes(cell.toLowerCase()));
  if (named !== -1) return { format: { kind: 'csv', delimiter, column: named }, hasHeading: true };
  const first = cells.findIndex((cell) => importedPhone(cell) !== undefined);
  if (columnName !== undefined || first === -1) {
    throw refusal('bad_input', `The first line names no column ${wanted.join(' or ')}. Name it: --column.`);
  }
  return { format: { kind: 'csv', delimiter, column: first }, hasHeading: false };
};

const fromText = (text: unknown): Reading => {
  if (typeof text !== 'string') return { reason: 'the phone is not text' };
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

/** Reads one line. The reason never repeats what stood there. */
export const readPhone = ({ text: whole, number }: Line, format: Format): Reading => {
  if (whole === undefined) return { reason: 'the line is too long' };
  const text = number === 1 ? withoutByteOrderMark(whole) : whole;
  if (text.trim() === '') return 'blank';
  if (format.kind === 'jsonl') return fromJson(text);
  const cells = parseRow(text, format.delimiter);
  return cells === undefined ? { reason: 'a quote is not closed' } : fromText(cells[format.column] ?? '');
};
