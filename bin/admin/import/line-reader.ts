import { createReadStream } from 'node:fs';

/** A line of a file. `text` is undefined where the line is too long to be kept. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string | undefined;
  /** Where the next line begins, in bytes. */
  readonly end: number;
}

/** Where to begin: at the start of a file, or where an earlier run ended. */
export interface Place {
  readonly offset: number;
  /** How many lines lie before it. */
  readonly lines: number;
}

/** No line with a phone in it is longer; and so a file without line ends cannot fill the memory. */
const MAX_LINE_BYTES = 64 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;

const textOf = (bytes: Buffer): string => {
  const text = bytes.toString('utf8');
  return text.endsWith('\r') ? text.slice(0, -1) : text;
};

/**
 * Reads a file's lines from a place on, many at a time. Memory is bounded whatever the file holds. Ends of lines are \n or \r\n; the
 * last line needs none.
 */
export async function* readLines(file: string, from: Place): AsyncGenerator<Line[]> {
  let { offset, lines: number } = from;
  let rest: Buffer = Buffer.alloc(0);
  let dropped = 0;

  const lineOf = (bytes: Buffer, hasEnd: boolean): Line => {
    number += 1;
    offset += dropped + bytes.length + (hasEnd ? 1 : 0);
    const isTooLong = dropped + bytes.length > MAX_LINE_BYTES;
    dropped = 0;
    return { number, text: isTooLong ? undefined : textOf(bytes), end: offset };
  };

  const stream = createReadStream(file, { start: offset, highWaterMark: CHUNK_BYTES });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const lines: Line[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      lines.push(lineOf(bytes.subarray(start, end), true));
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_LINE_BYTES) {
      dropped += rest.length;
      rest = Buffer.alloc(0);
    }
    if (lines.length > 0) yield lines;
  }
  if (rest.length + dropped > 0) yield [lineOf(rest, false)];
}
