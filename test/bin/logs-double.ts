import { randomUUID } from 'node:crypto';

/** A line of a log group. */
interface Line {
  readonly group: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly message: string;
}

type Event = Readonly<Record<string, unknown>>;
type Predicate = (event: Event) => boolean;

const malformed = (): never => {
  throw new Error('MalformedQueryException');
};

/** Splits a filter into brackets, strings, regular expressions, lists and words. */
const tokensOf = (text: string): string[] => text.match(/[()]|'[^']*'|\/[^/]*\/|\[[^\]]*\]|[^\s()]+/g) ?? [];

const stringOf = (token = ''): string => /^'(.*)'$/.exec(token)?.[1] ?? malformed();

const comparison = (field = '', operator = '', operand = ''): Predicate => {
  const textOf = (event: Event): string | undefined =>
    event[field] === undefined ? undefined : String(event[field]);
  if (operator === '=') {
    const wanted = stringOf(operand);
    return (event) => textOf(event) === wanted;
  }
  if (operator === 'like') {
    const pattern = new RegExp(/^\/(.*)\/$/.exec(operand)?.[1] ?? malformed());
    return (event) => pattern.test(textOf(event) ?? '');
  }
  if (operator === '>=') return (event) => Number(textOf(event)) >= Number(operand);
  if (operator === '<=') return (event) => Number(textOf(event)) <= Number(operand);
  if (operator === 'in') {
    const wanted = (/^\[(.*)\]$/.exec(operand)?.[1] ?? malformed()).split(', ').map(stringOf);
    return (event) => wanted.includes(textOf(event) ?? '');
  }
  return malformed();
};

/** Parses the part of the filter syntax that the CLI uses: `=`, `>=`, `<=`, `like`, `in`, `and`, `or` and brackets. `and` binds more strongly. */
const predicateOf = (text: string): Predicate => {
  const tokens = tokensOf(text);
  const factor = (): Predicate => {
    if (tokens[0] !== '(') return comparison(tokens.shift(), tokens.shift(), tokens.shift());
    tokens.shift();
    const inner = either();
    return tokens.shift() === ')' ? inner : malformed();
  };
  const joined = (word: string, part: () => Predicate, join: (a: Predicate, b: Predicate) => Predicate) => {
    let left = part();
    while (tokens[0] === word) {
      tokens.shift();
      left = join(left, part());
    }
    return left;
  };
  const both = () => joined('and', factor, (a, b) => (event) => a(event) && b(event));
  const either = (): Predicate => joined('or', both, (a, b) => (event) => a(event) || b(event));
  const parsed = either();
  return tokens.length === 0 ? parsed : malformed();
};

const SOURCE = /^SOURCE logGroups\(namePrefix: \['([\w-]+)'\]\)$/;

/** Runs a query of CloudWatch Logs Insights: the commands SOURCE, fields, filter, sort and limit. */
const runQuery = (query: string, lines: readonly Line[]) => {
  const [source = '', ...commands] = query.split('\n| ');
  const prefix = SOURCE.exec(source)?.[1] ?? malformed();
  const fields: string[] = [];
  let events: Event[] = lines
    .filter(({ group }) => group.startsWith(prefix))
    .map(({ at, message }) => ({
      ...JSON.parse(message),
      '@timestamp': new Date(at).toISOString().replace('T', ' ').replace('Z', ''),
      '@message': message,
    }));
  const timeOf = (event: Event): string => String(event['@timestamp']);
  const byTime = (a: Event, b: Event): number => timeOf(a).localeCompare(timeOf(b));
  for (const command of commands) {
    const [, name, rest = ''] = /^(\w+) (.*)$/.exec(command) ?? [];
    if (name === 'fields') fields.push(...rest.split(', '));
    else if (name === 'filter') events = events.filter(predicateOf(rest));
    else if (command === 'sort @timestamp asc') events = events.toSorted(byTime);
    else if (command === 'sort @timestamp desc') events = events.toSorted(byTime).reverse();
    else if (name === 'limit') events = events.slice(0, Number(rest));
    else malformed();
  }
  return events.map((event) =>
    fields.flatMap((field) => (event[field] === undefined ? [] : [{ field, value: String(event[field]) }])),
  );
};

interface Sent {
  readonly queryString?: string;
  /** Epoch seconds, both included. */
  readonly startTime?: number;
  readonly endTime?: number;
  readonly queryId?: string;
}

/** Simulates CloudWatch Logs Insights. */
export const logsDouble = () => {
  const lines: Line[] = [];
  const queries = new Map<string, { readonly results: object; reads: number }>();
  const state = {
    /** The queries that were started. */
    started: [] as string[],
    /** The status with which a query ends. */
    end: 'Complete',
    /** How often a query is still running when it is read. */
    runningReads: 0,
  };

  const start = ({ queryString = '', startTime = 0, endTime = 0 }: Sent) => {
    state.started.push(queryString);
    const inTime = lines.filter(({ at }) => at >= startTime * 1000 && at < (endTime + 1) * 1000);
    const queryId = randomUUID();
    queries.set(queryId, { results: runQuery(queryString, inTime), reads: 0 });
    return { queryId };
  };

  const read = ({ queryId = '' }: Sent) => {
    const query = queries.get(queryId) ?? malformed();
    query.reads += 1;
    return query.reads <= state.runningReads
      ? { status: 'Running' }
      : { status: state.end, results: query.results };
  };

  return {
    state,
    /** Adds a line to a log group. */
    add(group: string, message: string, at = Date.now()) {
      lines.push({ group, at, message });
    },
    /** Runs a query over all lines. */
    run: (query: string) => runQuery(query, lines),
    /** Returns the response to a call of the API. */
    respond(action: string, sent: Sent): { readonly status: number; readonly body: object } {
      try {
        return { status: 200, body: action === 'StartQuery' ? start(sent) : read(sent) };
      } catch (error) {
        return { status: 400, body: { __type: (error as Error).message } };
      }
    },
  };
};

export type LogsDouble = ReturnType<typeof logsDouble>;
