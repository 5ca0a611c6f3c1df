/** What may part the cells of a row; a spreadsheet chooses by the language it is set to. */
export const DELIMITERS = [',', ';', '\t'] as const;

export type Delimiter = (typeof DELIMITERS)[number];

const QUOTE = '"';

/**
 * The cells of one row (RFC 4180), or undefined if a quote is not closed. A row is a line here: a cell with a line break in it is a
 * mistake in a list of phones, and a forgotten quote must cost one line, not the rest of the file.
 */
export const parseRow = (line: string, delimiter: Delimiter): string[] | undefined => {
  if (!line.includes(QUOTE)) return line.split(delimiter);
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let index = 0; index < line.length; index += 1) {
    const character = line.charAt(index);
    if (character === QUOTE && isQuoted && line.charAt(index + 1) === QUOTE) {
      cell += QUOTE;
      index += 1;
    } else if (character === QUOTE) {
      isQuoted = !isQuoted;
    } else if (character === delimiter && !isQuoted) {
      cells.push(cell);
      cell = '';
    } else {
      cell += character;
    }
  }
  return isQuoted ? undefined : [...cells, cell];
};
