import * as v from 'valibot';

/** Where a developer's own machine is. */
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/;

/** Only by TLS, as credentials and national ids go there; the simulators of one machine are the exception. */
const isSafe = (text: string): boolean => {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.search !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
};

/** The optional `base_url` of a provider's section: https, or http on loopback. Without a slash at its end. */
export const baseUrl = (standard: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.check(isSafe, 'must be an https URL'),
      v.transform((text) => text.replace(/\/+$/, '')),
    ),
    standard,
  );

/** A credential: text that is not empty. */
export const credential = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));
