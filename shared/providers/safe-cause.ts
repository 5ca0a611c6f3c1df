import { isNativeError } from 'node:util/types';

/** How far down a chain of causes a code is looked for. */
const MAX_DEPTH = 5;

/** `ECONNRESET`, `UND_ERR_SOCKET`: the form of every code that Node and OpenSSL give. Anything else might hold what was sent. */
const CODE = /^[A-Z][A-Z0-9_]{2,60}$/;
const NAME = /^[A-Za-z]{1,40}$/;

/** The code of an error, or of what caused it. */
export const codeOf = (error: unknown): string | undefined => {
  let at: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH && isNativeError(at); depth += 1) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string' && CODE.test(code)) return code;
    at = at.cause;
  }
  return undefined;
};

/**
 * What may be kept of an error of the HTTP client: its name and its code. The error itself can hold the URL, which is where some
 * providers want the API key or the national id to stand, and a piece of what came back.
 */
export const safeCause = (error: unknown): Error => {
  const kept = new Error(codeOf(error) ?? 'no code');
  if (isNativeError(error) && NAME.test(error.name)) kept.name = error.name;
  return kept;
};
