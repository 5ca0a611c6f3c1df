/** Reads the phones of a text or CSV file, as spreadsheets export it: in UTF-8 or UTF-16, with any of the usual delimiters, with quotes. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { CsvError, type Info, type Options, parse } from 'csv-parse';
import { AdminError } from '#admin/admin-error.ts';
import { redact } from '#shared/log.ts';
import { trimPasted } from '#shared/values/plain-text.ts';
import { normalized } from './similar-names.ts';

/** What is known of a file before its first phone. */
export interface FileLayout {
  readonly path: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be';
  readonly delimiter: string;
  /** 2 after a line such as `sep=;`, by which Excel names the delimiter; else 1. */
  readonly firstLine: 1 | 2;
  /** The position of the column with the phones, and the first line, which names it. Undefined: each line is a phone. */
  readonly column?: { readonly index: number; readonly header: string };
}

/** A line after the header. A quoted cell can contain line breaks: then it is several lines of the file. */
export interface PhoneLine {
  /** Its number in the file, from 1. */
  readonly line: number;
  /** The whole line, without its line break. */
  readonly text: string;
  /** The cell of the phone; undefined if there is none. */
  readonly phone: string | undefined;
  readonly isBlank: boolean;
}

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** A longer line is a quote that never ends. */
const MAX_LINE_BYTES = 1_000_000;

const OPTIONS = {
  relax_quotes: true,
  relax_column_count: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  max_record_size: MAX_LINE_BYTES,
  info: true,
  raw: true,
} as const satisfies Options;

/** A record as csv-parse returns it with `info` and `raw`. */
interface Parsed {
  readonly record: readonly string[];
  readonly raw: string;
  readonly info: Info;
}

const unreadable = (path: string, why: string, cause: unknown): AdminError =>
  new AdminError('bad_input', `${path} ${why}`, { cause });

/** Describes an error of the file system, of the encoding or of the quotes. */
const fileError = (path: string, error: unknown): unknown => {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined) return unreadable(path, 'cannot be read.', error);
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return unreadable(path, 'is neither UTF-8 nor UTF-16. Save it as "CSV UTF-8".', error);
  }
  if (!(error instanceof CsvError)) return error;
  return unreadable(path, `has a quote that does not end, or a line over 1 MB: line ${error.lines}.`, error);
};

const BYTE_ORDER_MARKS = { fffe: 'utf-16le', feff: 'utf-16be' } as const;

const encodingOf = async (path: string): Promise<FileLayout['encoding']> => {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  const mark = buffer.subarray(0, bytesRead).toString('hex');
  return BYTE_ORDER_MARKS[mark as keyof typeof BYTE_ORDER_MARKS] ?? 'utf-8';
};

/** csv-parse decodes UTF-16 too, but cuts the raw text of it in the middle of a character. */
const decodedFrom = (encoding: FileLayout['encoding']) =>
  async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
    const decoder = new TextDecoder(encoding, { fatal: true });
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  };

async function* recordsOf({ path, encoding, delimiter, firstLine }: FileLayout): AsyncGenerator<Parsed> {
  const parser = parse({ ...OPTIONS, delimiter, from_line: firstLine });
  // The iteration throws the errors of all three.
  pipeline(createReadStream(path), decodedFrom(encoding), parser, () => {});
  try {
    for await (const record of parser) yield record;
  } catch (error) {
    throw fileError(path, error);
  }
}

const withoutLineBreak = (raw: string): string => raw.replace(/(?:\r\n|\n|\r)$/, '');

/** The first record; undefined in an empty file. */
const firstOf = async (layout: FileLayout): Promise<Parsed | undefined> => {
  for await (const record of recordsOf(layout)) return record;
  return undefined;
};

const listed = (names: readonly string[]): string => names.map((name) => redact(name.trim())).join(', ');

const SEPARATOR_LINE = /^\ufeff*sep=(.)$/i;

/** The layouts that a file can have: by its line `sep=`, or with each of the usual delimiters. */
const layoutsOf = async (path: string): Promise<FileLayout[]> => {
  const encoding = await encodingOf(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  const layouts = DELIMITERS.map((delimiter) => ({ path, encoding, delimiter, firstLine: 1 }) as const);
  const first = await firstOf(layouts[0] as FileLayout);
  const named = SEPARATOR_LINE.exec(withoutLineBreak(first?.raw ?? ''))?.[1];
  return named === undefined ? layouts : [{ path, encoding, delimiter: named, firstLine: 2 }];
};

/** A cell in quotes. A quote within a cell without them is text. */
const QUOTED = /(?<=^\ufeff*|[,;\t|])"(?:[^"]|"")*(?:"|$)/g;

/** Returns how often the delimiter of a layout is in its first line outside of quotes. */
const delimitersOf = ({ layout, first }: { layout: FileLayout; first: Parsed | undefined }): number =>
  (first?.raw ?? '').replace(QUOTED, '').split(layout.delimiter).length - 1;

/**
 * Finds out the encoding, the delimiter and the column of a file. The delimiter is the one that the first line has most outside of quotes.
 * Throws `bad_input` if the file cannot be read, has no such column or has it twice, or has several columns and `name` is undefined.
 */
export const layoutOf = async (path: string, name: string | undefined): Promise<FileLayout> => {
  const firsts: { readonly layout: FileLayout; readonly first: Parsed | undefined }[] = [];
  for (const layout of await layoutsOf(path)) firsts.push({ layout, first: await firstOf(layout) });
  const most = Math.max(...firsts.map(delimitersOf));
  const { layout, first } = firsts.find((each) => delimitersOf(each) === most) as (typeof firsts)[0];
  const columns = first?.record ?? [];
  if (name === undefined) {
    if (columns.length <= 1) return layout;
    throw new AdminError(
      'bad_input',
      `${path} has the columns ${listed(columns)}. Name that of the phones: --column.`,
    );
  }
  const found = columns.flatMap((each, index) => (normalized(each) === normalized(name) ? [index] : []));
  const [index] = found;
  if (index !== undefined && found.length === 1) {
    return { ...layout, column: { index, header: withoutLineBreak(first?.raw ?? '') } };
  }
  const fault = found.length === 0 ? 'no column' : `${found.length} columns`;
  throw new AdminError('bad_input', `${path} has ${fault} ${name}. Its first line has: ${listed(columns)}.`);
};

/** Yields the lines after the header. Throws `bad_input` where the file is malformed. */
export async function* phoneLines(layout: FileLayout): AsyncGenerator<PhoneLine> {
  const { column, firstLine } = layout;
  let next: number = firstLine;
  for await (const { record, raw } of recordsOf(layout)) {
    const line = next;
    const text = withoutLineBreak(raw);
    // csv-parse counts a line break of two characters within quotes twice.
    next += 1 + (text.match(/\r\n|\n|\r/g)?.length ?? 0);
    if (column !== undefined && line === firstLine) continue;
    const isBlank = record.every((cell) => trimPasted(cell) === '');
    const phone = column === undefined ? (record.length === 1 ? record[0] : undefined) : record[column.index];
    yield { line, text, phone, isBlank };
  }
}

/** Returns the number of lines after the header. Throws `bad_input` where the file is malformed, before anything is imported. */
export const countLines = async (layout: FileLayout): Promise<number> => {
  let lines = 0;
  for await (const _ of phoneLines(layout)) lines += 1;
  return lines;
};
