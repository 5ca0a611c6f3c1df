/** The beginning of a call in either client. */
const CALL = /(?:async \*?|function )(?<method>\w+)\(|const (?<constant>\w+) = async \(/;
/** A request that a call sends: `http.GET('/v1/users'` or `send('GET', '/v1/users'`. */
const REQUEST = /(?:http\.|send\(')(?<verb>[A-Z]+)(?:\(|', )'(?<path>[^']+)'/;

const EITHER = new RegExp(`${CALL.source}|${REQUEST.source}`, 'g');

/** Returns the calls in the source of a client: `GET /v1/users/{id}` -> `getUser`. */
export const callsIn = (source: string): ReadonlyMap<string, string> => {
  const calls = new Map<string, string>();
  let call = '';
  for (const { groups } of source.matchAll(EITHER)) {
    const { method, constant, verb, path } = groups as Record<string, string | undefined>;
    if (verb === undefined) call = method ?? constant ?? '';
    else calls.set(`${verb} ${path}`, call);
  }
  return calls;
};
