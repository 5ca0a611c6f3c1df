/** Letters of an Arabic keyboard, and the Persian ones in which pages are written. */
const LETTERS: Readonly<Record<string, string>> = {
  ي: 'ی',
  ى: 'ی',
  ئ: 'ی',
  ك: 'ک',
  ة: 'ه',
  ۀ: 'ه',
  أ: 'ا',
  إ: 'ا',
  ٱ: 'ا',
};

/** `۴۰۹` and `٤٠٩` -> `409`. */
const withDigits = (term: string, zero: number): string =>
  term.replace(/[۰-۹٠-٩0-9]/g, (digit) =>
    String.fromCodePoint(zero + (((digit.codePointAt(0) ?? 0) & 0xf) % 10)),
  );

/** Returns the forms in which a word of a query may stand in the pages: a page has both kinds of digits, and words with a half-space. */
export const formsOf = (term: string): string[] => {
  const folded = term.toLowerCase().replace(/[يىئكةۀأإٱ]/g, (letter) => LETTERS[letter] ?? letter);
  const joined = folded.replaceAll('\u200c', '');
  const forms = [folded, joined].flatMap((form) => [withDigits(form, 0x30), withDigits(form, 0x6f0)]);
  return [...new Set(forms)];
};

/** Options of MiniSearch for queries. In the configuration VitePress would write functions as text, which our policy does not run. */
export const searchOptions = { processTerm: formsOf };
