/** HTML that is safe to insert: markup of ours, or text that was escaped. */
export interface Html {
  readonly html: string;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for an element or for an attribute in double quotes. */
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? '');

/** Marks markup as safe. */
export const raw = (markup: string): Html => ({ html: markup });

type Value = Html | readonly Html[] | string | number | false | undefined;

const markupOf = (value: Value): string => {
  if (value === undefined || value === false) return '';
  if (typeof value !== 'object') return escapeHtml(String(value));
  return 'html' in value ? value.html : value.map(({ html }) => html).join('\n');
};

/** A template of markup. It escapes every value that is not Html itself; false and undefined insert nothing. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
  raw(String.raw({ raw: parts }, ...values.map(markupOf)));
