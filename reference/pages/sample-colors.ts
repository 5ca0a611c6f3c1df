/** The parts of a sample or of JSON that have a color. One grammar is enough for the programs that the page writes itself. */
const PARTS = {
  attr: /"(?:[^"\\]|\\.)*"(?=\s*:)|\b\w+(?=: )/,
  string: /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/,
  keyword:
    /<\?php|(?<![.$\w])(?:as|await|const|echo|except|exit|if|import|new|throw|try|with|true|false|null|True|False|None)\b/,
  variable: /\$\w+/,
  number: /-?\b\d[\d.eE+-]*/,
};

const NAMES = Object.keys(PARTS);

/** The quote that a shell needs within quotes, `'\''`, ends no string. */
const PART = new RegExp(["\\\\'", ...Object.values(PARTS).map(({ source }) => `(${source})`)].join('|'), 'g');

/** A part of a text. The first one has a color: its class is `h-<name>`. */
export type Colored = readonly [name: string | undefined, text: string];

/** Returns a text in parts, those with a color and those between them. */
export const coloredParts = (text: string): readonly Colored[] => {
  const parts: Colored[] = [];
  let end = 0;
  for (const match of text.matchAll(PART)) {
    const name = NAMES[match.slice(1).findIndex((group) => group !== undefined)];
    parts.push([undefined, text.slice(end, match.index)], [name, match[0]]);
    end = match.index + match[0].length;
  }
  return [...parts, [undefined, text.slice(end)]];
};
