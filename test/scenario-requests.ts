/** The beginning of a request in a scenario: `call(target(), '/v1/users', `. */
const CALL = /\bcall\(\s*target(?:\(\))?,\s*(?<quote>['`])(?<path>.*?)\k<quote>/g;

/** Returns the text from `start` to the parenthesis that closes the one that is open there. */
const toClosingParenthesis = (source: string, start: number): string => {
  let open = 1;
  for (let end = start; end < source.length; end += 1) {
    if (source[end] === '(') open += 1;
    if (source[end] === ')') open -= 1;
    if (open === 0) return source.slice(start, end);
  }
  throw new Error('a call in a scenario has no closing parenthesis');
};

/** `/v1/users/${id}` -> `/v1/users/{}`, `/v1/users${query}` -> `/v1/users`. */
const pathOf = (literal: string): string =>
  literal
    .replace(/\/\$\{.*?\}/g, '/{}')
    .replace(/\$\{.*/, '')
    .replace(/\?.*/, '');

/** Returns the requests in the source of a scenario, as method and path: `DELETE /v1/users/{}`. */
export const requestsIn = (source: string): ReadonlySet<string> =>
  new Set(
    [...source.matchAll(CALL)].map(({ 0: beginning, index, groups }) => {
      const options = toClosingParenthesis(source, index + beginning.length);
      const [, named] = /method: '(\w+)'/.exec(options) ?? [];
      const method = named ?? (/\b(?:body|text)\b/.test(options) ? 'POST' : 'GET');
      return `${method} ${pathOf(groups?.path ?? '')}`;
    }),
  );
