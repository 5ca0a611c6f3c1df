import fc from 'fast-check';
import { EVENTS, type EventName, errorFields, logEvent, redact, redirectLog } from '#shared/log.ts';
import { runInRequest } from '#shared/request-context.ts';
import { requestUntil } from '#test/fakes/request.ts';
import { itForAll } from '#test/for-all.ts';
import { runsOf } from '#test/full-run.ts';
import { anyText, digits, inAnyScript } from './any-script.ts';

let lines: string[];
let restore: () => void;

beforeEach(() => {
  lines = [];
  restore = redirectLog((line) => lines.push(line));
});
afterEach(() => restore());

type Line = Readonly<Record<string, unknown>>;

/** The parsed line of one event. */
const written = (name: EventName, fields: object): Line => {
  lines.length = 0;
  logEvent(name, fields);
  expect(lines).toHaveLength(1);
  return JSON.parse(String(lines[0]));
};

const eventNames = Object.keys(EVENTS) as EventName[];

const isNumeric = (field: string): boolean =>
  /_ms$|_percent$|^(?:status|attempt|unavailable|taken_over)$/.test(field);

/** A value for each field of an event. */
const allFields = (name: EventName) =>
  Object.fromEntries(EVENTS[name].fields.map((field) => [field, isNumeric(field) ? 7 : `some ${field}`]));

/** An event with any subset of its fields. */
const anyEvent = fc.constantFrom(...eventNames).chain((name) =>
  fc.tuple(
    fc.constant(name),
    fc
      .subarray([...EVENTS[name].fields] as string[])
      .map((chosen) =>
        Object.fromEntries(Object.entries(allFields(name)).filter(([field]) => chosen.includes(field))),
      ),
  ),
);

/** The names in an embedded-metric document that the line has no value for. CloudWatch rejects a document with one. */
const brokenReferences = (line: Line): unknown[] => {
  const { CloudWatchMetrics = [] } = (line._aws ?? {}) as {
    CloudWatchMetrics?: { Dimensions: string[][]; Metrics: { Name: string; Unit: string }[] }[];
  };
  return CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) => [
    ...Dimensions.flat().filter((field) => typeof line[field] !== 'string'),
    ...Metrics.filter(({ Name }) => typeof line[Name] !== 'number'),
    ...Metrics.filter(({ Unit }) => !['Count', 'Milliseconds', 'Percent'].includes(Unit)),
    ...[Dimensions, Metrics].filter((list) => list.length === 0),
  ]);
};

describe('every event', () => {
  itForAll(eventNames)('is one JSON object with level, name, time and every field', (name) => {
    const line = written(name, allFields(name));
    expect(line).toMatchObject({ level: EVENTS[name].level, event: name, ...allFields(name) });
    expect(new Date(String(line.timestamp)).toISOString()).toBe(line.timestamp);
  });

  itForAll(eventNames)('has every metric and dimension set when every field has a value', (name) => {
    const line = written(name, allFields(name));
    const documents = Object.entries(EVENTS[name].metrics).map(([Name, { unit, dimensions }]) => ({
      Namespace: 'BuyerLinking',
      Dimensions: dimensions,
      Metrics: [{ Name, Unit: unit }],
    }));
    const _aws = { Timestamp: Date.parse(String(line.timestamp)), CloudWatchMetrics: documents };
    expect(line._aws).toEqual(documents.length === 0 ? undefined : _aws);
    expect(brokenReferences(line)).toEqual([]);
  });

  itForAll(eventNames)('drops fields that its kind does not list', (name) => {
    const personal = { phone: '+989990000001', headers: { 'x-api-key': 'k' }, body: '{}', toString: 'x' };
    const line = written(name, { ...allFields(name), ...personal });
    expect(Object.keys(line).filter((field) => Object.hasOwn(personal, field))).toEqual([]);
  });
});

describe('logEvent', () => {
  it('names no metric and no dimension that the line has no value for', () => {
    fc.assert(
      fc.property(anyEvent, ([name, fields]) => expect(brokenReferences(written(name, fields))).toEqual([])),
      { numRuns: runsOf(500) },
    );
  });

  it('adds only metrics and the common fields to the given fields', () => {
    fc.assert(
      fc.property(anyEvent, ([name, fields]) => {
        const known = [
          'timestamp',
          'level',
          'event',
          '_aws',
          ...Object.keys(fields),
          ...Object.keys(EVENTS[name].metrics),
        ];
        expect(Object.keys(written(name, fields)).filter((field) => !known.includes(field))).toEqual([]);
      }),
    );
  });

  it('adds the id and the operation of the request to an event that has these fields', () => {
    runInRequest({ ...requestUntil(), operation: 'send-otp' }, () => {
      const id = { request_id: 'req-1' };
      expect(written('rate_limiter_unreachable', {})).toMatchObject({ ...id, operation: 'send-otp' });
      expect(written('rate_limiter_unreachable', { operation: 'other' })).toMatchObject({
        operation: 'other',
      });
      expect(written('code_sent', {})).toEqual(expect.not.objectContaining({ operation: 'send-otp' }));
      expect(written('code_sent', {})).toMatchObject(id);
    });
  });

  it('gives a metric the value of its field', () => {
    const line = written('request_completed', {
      operation: 'send-otp',
      duration_ms: 12.5,
      outcome: 'ok',
      plan: 'free',
    });
    expect(line).toMatchObject({ Requests: 1, Duration: 12.5, duration_ms: 12.5 });
  });

  it('leaves out a metric without a value and keeps the others', () => {
    const line = written('request_completed', { operation: 'send-otp', outcome: 'ok', plan: 'free' });
    expect(line._aws).toMatchObject({
      CloudWatchMetrics: [{ Dimensions: [['plan']], Metrics: [{ Name: 'Requests', Unit: 'Count' }] }],
    });
  });

  it('writes one line for any content of a value', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const line = written('request_failed', {
          operation: `${text}\n${text}\r\u2028`,
          error_message: text,
        });
        expect(lines[0]).not.toMatch(/[\n\r]/);
        expect(line.operation).toBe(JSON.parse(JSON.stringify(`${text}\n${text}\r\u2028`)));
      }),
    );
  });
});

describe('redirectLog', () => {
  it('returns a function that restores the former target', () => {
    const other: string[] = [];
    const back = redirectLog((line) => other.push(line));
    logEvent('provider_failed', { reason: 'quota' });
    back();
    logEvent('provider_failed', { reason: 'balance' });
    expect([other, lines].map((written) => written.length)).toEqual([1, 1]);
  });
});

describe('redact', () => {
  const personal = [
    ['a phone', '+989990000001'],
    ['a local phone', '09990000001'],
    ['a spelled phone', '0999 000-00 01'],
    ['a phone with runs of separators', '0999  000 -- 0001'],
    ['a phone with long runs of separators', '0999 - \u2010 \u00a0 \u2212 000        0001'],
    ['a code with six spaces', '493      027'],
    ['a national id', '9990000018'],
    ['a code', '493027'],
    ['a Persian phone', '۰۹۹۹۰۰۰۰۰۰۱'],
    ['an Arabic-Indic national id', '٩٩٩٠٠٠٠٠١٨'],
    ['a code of three scripts', '4۹٣0۲٧'],
    ['a dotted phone', '0999.000.00.01'],
    ['a slashed phone', '0999/000/00/01'],
    ['an underscored national id', '999_000_0018'],
    ['a full-width code', '４９３０２７'],
    ['a Devanagari phone', '०९९९०००००००१'],
    ['a mathematical code', '𝟒𝟗𝟑𝟎𝟐𝟕'],
    ['a phone with brackets', '+98 (999) 000-0001'],
    ['a phone like a time', '09:99:00:00:00:1'],
    ['a national id like a count', '9,990,000,018'],
    ['a national id without its zero, like a count', '12,345,678'],
    ['a code like a count', '493,027'],
    ['a code like a time of day', '12:34:56'],
    ['a code like a position in code', '493:027'],
    ...[...',~\u00a0\u2011\u200c:+&–،\t'].map(
      (separator) =>
        [`a phone with ${JSON.stringify(separator)}`, `0999${separator}000${separator}0001`] as const,
    ),
  ] as const;

  it.each(personal)('replaces %s anywhere in a text', (_what, text) => {
    expect(redact(text)).not.toMatch(/\p{Nd}/u);
    expect(redact(`before ${text}, after`)).toMatch(/^before \+?\[redacted\], after$/);
    expect(redact(`{"value":"${text}"}`)).toMatch(/^\{"value":"\+?\[redacted\]"\}$/);
  });

  it('replaces every number of at least six digits in any script', () => {
    const number = fc.integer({ min: 6, max: 20 }).chain(digits).chain(inAnyScript);
    fc.assert(fc.property(number, (text) => expect(redact(`a ${text}!`)).toBe('a [redacted]!')));
  });

  it.each(['blk_live_', 'blk_test_'])('replaces an API key that begins with %s', (prefix) => {
    expect(redact(`key ${prefix}abcDEF123, gone`)).toBe('key [redacted], gone');
  });

  it('replaces a JWT', () => {
    expect(redact('token eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJieXJfIn0.c2lnbmF0dXJl, gone')).toBe(
      'token [redacted], gone',
    );
  });

  it.each([
    'TypeError at handler (/var/task/index.mjs:120:33): status 503 after 1500 ms on port 8000',
    '(file:///var/task/index.mjs:12040:117)\n    at next (/var/task/shared/log.ts:1204:331)',
    'from 08:00:00Z to T09:15:01.5, at 20:44:34.123Z, 1,234,567 lines of sel_0123456789abcdefghijAB and usr_A000000000000000000000',
  ])('keeps statuses, ports, positions in code, paths, times, counts and ids: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  it.each([
    ['digits', '1'.repeat(100_000)],
    [
      'digits and separators that are never six',
      `${`12345${' .'.repeat(10_000)}`.repeat(2).slice(0, 40_000)}x`,
    ],
    ['digits and hyphens', `12345${' -'.repeat(50_000)}`],
    ['beginnings of tokens', 'eyJ'.repeat(33_000)],
    ['separators', ' -'.repeat(50_000)],
    ['beginnings of keys', 'blk_live_'.repeat(10_000)],
  ])('handles 100 KB of %s in linear time', (_what, text) => {
    const before = process.cpuUsage();
    expect(redact(text).length).toBeLessThanOrEqual(text.length);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });
});

describe('errorFields', () => {
  it('returns name, message, stack and cause without personal data', () => {
    const error = new TypeError('no phone 09990000001', { cause: new RangeError('code 493027') });
    const fields = errorFields(error);
    expect(fields).toMatchObject({
      error_name: 'TypeError',
      error_message: 'no phone [redacted]',
      error_stack: expect.stringContaining('TypeError: no phone [redacted]\n    at '),
      error_cause: 'RangeError: code [redacted]',
    });
    expect(JSON.stringify(fields)).not.toMatch(/09990000001|493027/);
  });

  it.each([['a string'], [42], [undefined], [null], [{ message: '09990000001' }]])(
    'returns only the type of a thrown value that is no error: %j',
    (thrown) => {
      expect(errorFields(thrown)).toEqual({ error_name: typeof thrown });
    },
  );

  it('returns only fields that request_failed has', () => {
    const fields = Object.keys(errorFields(new Error('x', { cause: new Error('y') })));
    expect(
      fields.filter((field) => !(EVENTS.request_failed.fields as readonly string[]).includes(field)),
    ).toEqual([]);
  });
});
