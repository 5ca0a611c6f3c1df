import { type Html, raw } from './html.ts';

/** Elements whose text stays as it is: it is a link already, or it is sent or copied. */
const SKIPPED = /^<(\/?)(?:a|pre|form|nav|legend|figcaption|h[1-6])[\s>]/;

/** An error code or a field in prose. A name without an underscore may be a word of the sentence. */
const NAME = /\b[a-z]+(?:_[a-z]+)+\b/g;

/** Sets the names in the prose of a page as code, and links them. `addresses`: name -> address. */
export const linkNames = ({ html: markup }: Html, addresses: ReadonlyMap<string, string>): Html => {
  let skipped = 0;
  let code: string | undefined;
  const link = (name: string): string => {
    const address = addresses.get(name);
    if (address === undefined) return name;
    const anchor = `<a href="${address}">${name}</a>`;
    return code === undefined ? `<code>${anchor}</code>` : anchor;
  };
  const parts = markup.split(/(<[^>]*>)/).map((part) => {
    const [isTag, slash] = SKIPPED.exec(part) ?? [];
    if (isTag !== undefined) skipped += slash === '' ? 1 : -1;
    if (/^<code[\s>]/.test(part)) code = part;
    else if (part === '</code>') code = undefined;
    // The name of a field in its own row is what others link to.
    if (part.startsWith('<') || skipped > 0 || code === '<code class="name">') return part;
    return part.replace(NAME, link);
  });
  return raw(parts.join(''));
};
