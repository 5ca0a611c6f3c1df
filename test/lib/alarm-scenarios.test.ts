import { metricNamespaceOf } from '#lib/metrics.ts';
import { CAUSE_KINDS } from '#shared/http/server-errors.ts';
import { allRoutes, type RouteName } from '#shared/routes.ts';
import { useTable } from '#test/table/use-table.ts';
import { type RecordedRequest, type RequestKind, recordRequests } from './cloudwatch/recorded-requests.ts';
import { alarmsOf, metricName, replay, type Sample } from './cloudwatch/replay.ts';
import { EVERY_OPTION, resourcesOf, templatesOf } from './synthesized.ts';

const table = useTable();

const { api } = templatesOf('prod', EVERY_OPTION);
const alarms = alarmsOf(api, 'buyer-linking-prod-');

const functionIds = Object.keys(resourcesOf(api, 'AWS::Lambda::Function'));

const functionOf = (name: string) => functionIds.find((id) => id.startsWith(name.replaceAll('-', '')));

/** Lambda publishes the errors of an alias under these two names. */
const errorsOf = (operation: string) => {
  const Ref = functionOf(operation);
  return metricName('AWS/Lambda', 'Errors', {
    FunctionName: { Ref },
    Resource: { 'Fn::Join': ['', [{ Ref }, ':live']] },
  });
};

/** The metrics of AWS, with the dimensions under which it publishes them. */
const GATEWAY_ERRORS = metricName('AWS/ApiGateway', '5XXError', { ApiName: 'buyer-linking-prod-api' });
const CANARY_ERRORS = metricName('AWS/Lambda', 'Errors', { FunctionName: { Ref: functionOf('canary') } });
const BLOCKED = metricName('AWS/WAFV2', 'BlockedRequests', {
  WebACL: 'BuyerLinking-prod',
  Rule: 'ALL',
  Region: { Ref: 'AWS::Region' },
});
const CERTIFICATE_DAYS = metricName('AWS/CertificateManager', 'DaysToExpiry', {
  CertificateArn: EVERY_OPTION.domain.certificateArn,
});

/** Requests of each kind in a minute. */
type Traffic = Partial<Record<RequestKind, number>>;

interface Figures extends Traffic {
  /** Requests that the firewall blocks in a minute. */
  readonly blocked?: number;
  /** Calls of one operation in a minute, and those that crash. */
  readonly operation?: RouteName;
  readonly calls?: number;
  readonly crashes?: number;
  readonly canary?: 'fails' | 'does not run';
  readonly certificateDays?: number;
}

/** A stage with 40 sign-ins an hour. */
const QUIET: Traffic = { list: 2, send: 40 / 60, redeemed: 30 / 60, link: 5 / 60 };
const BUSY: Traffic = { list: 600, send: 60, redeemed: 50, link: 30 };

/** The figures hold for an hour before, an hour in between, and 80 minutes after. */
const FROM = 60;
const UNTIL = 120;
const END = 200;

/** CloudWatch has a count of API Gateway after a minute, and one of the log two minutes later. */
const GATEWAY_DELAY = 1;
const LOG_DELAY = 3;

let requests: Readonly<Record<RequestKind, RecordedRequest>>;
beforeAll(async () => {
  process.env.METRIC_NAMESPACE = metricNamespaceOf('prod');
  requests = await recordRequests(table);
}, 60_000);
afterAll(() => {
  delete process.env.METRIC_NAMESPACE;
});

/** How many of a rate happen in a minute: whole numbers that add up to it. */
const inMinute = (perMinute: number, minute: number): number =>
  Math.floor((minute + 1) * perMinute) - Math.floor(minute * perMinute);

const samplesOfRequests = (kind: RequestKind, count: number, minute: number): readonly Sample[] => {
  const { status, logged } = requests[kind];
  return [
    ...(status === undefined
      ? []
      : [
          {
            metric: GATEWAY_ERRORS,
            minute,
            arrives: minute + GATEWAY_DELAY,
            value: status >= 500 ? 1 : 0,
            count,
          },
        ]),
    ...logged.map((sample) => ({ ...sample, minute, arrives: minute + LOG_DELAY, count })),
  ];
};

const samplesOf = (
  {
    blocked = 0,
    operation = 'get-user',
    calls = 0,
    crashes = 0,
    canary,
    certificateDays = 200,
    ...traffic
  }: Figures,
  minute: number,
): readonly Sample[] => {
  /** A call whose function crashes, or not. */
  const call = (perMinute: number, value: number): readonly Sample[] =>
    [GATEWAY_ERRORS, errorsOf(operation)].flatMap((metric) => {
      const count = inMinute(perMinute, minute);
      return count === 0 ? [] : [{ metric, minute, arrives: minute + GATEWAY_DELAY, value, count }];
    });
  const once = (metric: string, value: number) => ({
    metric,
    minute,
    arrives: minute + GATEWAY_DELAY,
    value,
    count: 1,
  });
  return [
    ...Object.entries(traffic).flatMap(([kind, perMinute]) => {
      const count = inMinute(perMinute, minute);
      return count === 0 ? [] : samplesOfRequests(kind as RequestKind, count, minute);
    }),
    ...call(calls, 0),
    ...call(crashes, 1),
    ...(blocked === 0 ? [] : [once(BLOCKED, blocked)]),
    ...(minute % 5 === 0 && canary !== 'does not run'
      ? [once(CANARY_ERRORS, canary === 'fails' ? 1 : 0)]
      : []),
    ...(minute % 60 === 0 ? [once(CERTIFICATE_DAYS, certificateDays)] : []),
  ];
};

/** Returns the minutes from the beginning of the figures to each alarm, and the alarms that are raised 80 minutes after them. */
const raisedBy = (usual: Figures, meanwhile: Course) => {
  const figuresIn = typeof meanwhile === 'function' ? meanwhile : () => meanwhile;
  const samples = Array.from({ length: END }, (_, minute) =>
    samplesOf(minute >= FROM && minute < UNTIL ? figuresIn(minute - FROM) : usual, minute),
  ).flat();
  const { raisedAt, raisedAtEnd } = replay(alarms, samples, { from: 30, until: END });
  return {
    raised: Object.fromEntries([...raisedAt].map(([name, minute]) => [name, minute - FROM])),
    raisedAtEnd,
  };
};

/** Figures that hold all the time, or those of each minute after their beginning. */
type Course = Figures | ((minute: number) => Figures);

interface Scenario {
  readonly what: string;
  readonly usual: Figures;
  readonly meanwhile: Course;
  /** The alarms, each with the minutes within which it is raised. */
  readonly raises: Readonly<Record<string, number>>;
}

const PROVIDERS_HOURLY = 'providers-unavailable-hourly';

/** What raises an alarm. What fails for all callers fails for the canary too. */
const RAISING: readonly Scenario[] = [
  {
    what: 'functions without concurrency, five in five minutes',
    usual: QUIET,
    meanwhile: { ...QUIET, answeredByTheGateway: 1.2 },
    raises: { 'server-errors': 12 },
  },
  {
    what: 'an operation that crashes, 72 calls an hour',
    usual: { ...QUIET, operation: 'get-user', calls: 1.2 },
    meanwhile: { ...QUIET, operation: 'get-user', crashes: 1.2 },
    raises: { 'server-errors': 12, 'operations-crashing-1': 40 },
  },
  {
    what: 'an operation that crashes, 40 calls an hour',
    usual: { ...QUIET, operation: 'rotate-key', calls: 40 / 60 },
    meanwhile: { ...QUIET, operation: 'rotate-key', crashes: 40 / 60 },
    raises: { 'operations-crashing-2': 40 },
  },
  {
    what: 'an operation that crashes, 20 calls an hour',
    usual: { ...QUIET, operation: 'send-otp', calls: 20 / 60 },
    meanwhile: { ...QUIET, operation: 'send-otp', crashes: 20 / 60 },
    raises: { 'operations-crashing-3': 40 },
  },
  {
    what: 'an operation that crashes once a minute beside 600 lists a minute',
    usual: { ...BUSY, operation: 'get-docs', calls: 0.5 },
    meanwhile: { ...BUSY, operation: 'get-docs', crashes: 0.5 },
    raises: { 'operations-crashing-4': 40 },
  },
  {
    what: 'an authorizer that throws for the keys of one plan',
    usual: BUSY,
    meanwhile: { ...BUSY, keyThatCrashesTheAuthorizer: 100 },
    raises: { 'server-errors': 10 },
  },
  {
    what: 'an authorizer that throws for all keys',
    usual: BUSY,
    meanwhile: { keyThatCrashesTheAuthorizer: 700, canary: 'fails' },
    raises: { 'server-errors': 10, canary: 10 },
  },
  {
    what: 'crashes beside a seller over its share at 1,000 a minute',
    usual: BUSY,
    meanwhile: { ...BUSY, sendOverShare: 1000, answeredByTheGateway: 10 },
    raises: { 'server-errors': 10 },
  },
  {
    what: 'an operation with a defect',
    usual: QUIET,
    meanwhile: { ...QUIET, listWithADefect: 1 },
    raises: { 'operations-failing': 10 },
  },
  {
    what: 'an operation with a defect that five callers meet in an hour',
    usual: BUSY,
    meanwhile: { ...BUSY, listWithADefect: 5 / 60 },
    raises: { 'operations-failing': 45 },
  },
  {
    what: 'an outage of the table',
    usual: BUSY,
    meanwhile: { listOfAThrottledTable: 400, keyOfAThrottledTable: 300, uncounted: 400, canary: 'fails' },
    raises: { 'service-unavailable': 10, canary: 10 },
  },
  {
    what: 'a table that throttles the authorizer alone',
    usual: BUSY,
    meanwhile: { ...BUSY, keyOfAThrottledTable: 10 },
    raises: { 'service-unavailable': 10 },
  },
  {
    what: 'counts that cannot be written',
    usual: BUSY,
    meanwhile: { ...BUSY, uncounted: 10 },
    raises: { 'service-unavailable': 10 },
  },
  {
    what: 'a rotated secret that is not read',
    usual: BUSY,
    meanwhile: { ...BUSY, unreadSecret: 2 },
    raises: { 'service-unavailable': 10 },
  },
  {
    what: 'lists of users in two seconds',
    usual: BUSY,
    meanwhile: { ...BUSY, list: 580, listInTwoSeconds: 20 },
    raises: { 'slow-reads': 20 },
  },
  {
    what: 'no identity registry',
    usual: BUSY,
    meanwhile: { ...BUSY, link: 0, linkByNone: 30 },
    raises: { 'providers-unavailable-identity-registry': 10, [PROVIDERS_HOURLY]: 60 },
  },
  ...[5, 8, 12].map((links) => ({
    what: `no identity registry at ${links} links an hour`,
    usual: { ...QUIET, link: links / 60 },
    meanwhile: { ...QUIET, link: 0, linkByNone: links / 60 },
    raises: { [PROVIDERS_HOURLY]: 60 },
  })),
  {
    what: 'no identity registry at 20 links an hour',
    usual: { ...QUIET, link: 20 / 60 },
    meanwhile: { ...QUIET, link: 0, linkByNone: 20 / 60 },
    raises: { 'providers-unavailable-identity-registry': 30, [PROVIDERS_HOURLY]: 60 },
  },
  {
    what: 'no SMS provider at 40 sign-ins an hour',
    usual: QUIET,
    meanwhile: { ...QUIET, send: 0, redeemed: 0, sendByNone: 40 / 60 },
    raises: { 'providers-unavailable-sms': 30, [PROVIDERS_HOURLY]: 60 },
  },
  ...[10, 16].map((sends) => ({
    what: `no SMS provider at ${sends} sends an hour`,
    usual: { ...QUIET, send: sends / 60, redeemed: sends / 80 },
    meanwhile: { ...QUIET, send: 0, redeemed: 0, sendByNone: sends / 60 },
    raises: { [PROVIDERS_HOURLY]: 60 },
  })),
  {
    what: 'a template that both SMS providers refuse',
    usual: QUIET,
    meanwhile: { ...QUIET, send: 0, redeemed: 0, sendWithARefusedTemplate: 40 / 60 },
    raises: { 'providers-unavailable-sms': 30, [PROVIDERS_HOURLY]: 60 },
  },
  {
    what: 'no SMS provider at 60 sign-ins a minute',
    usual: BUSY,
    meanwhile: { ...BUSY, send: 0, redeemed: 0, sendByNone: 60 },
    raises: { 'providers-unavailable-sms': 10, [PROVIDERS_HOURLY]: 60 },
  },
  {
    what: 'one registry down while the next one takes over',
    usual: BUSY,
    meanwhile: { ...BUSY, link: 0, linkByTheSecond: 30 },
    raises: { 'providers-failing-identity-registry': 10 },
  },
  {
    what: 'one SMS provider down while the next one takes over, at 40 sign-ins an hour',
    usual: QUIET,
    meanwhile: { ...QUIET, send: 0, sendByTheSecond: 40 / 60 },
    raises: { 'providers-failing-sms': 30 },
  },
  {
    what: 'codes that do not arrive, at 60 an hour',
    usual: { ...QUIET, send: 1, redeemed: 0.8 },
    meanwhile: { ...QUIET, send: 1, redeemed: 0 },
    raises: { 'codes-unredeemed': 35, 'codes-unredeemed-hourly': 55 },
  },
  ...[5, 20].map((sends) => ({
    what: `codes that do not arrive, at ${sends} an hour`,
    usual: { ...QUIET, send: sends / 60, redeemed: sends / 80 },
    meanwhile: { ...QUIET, send: sends / 60, redeemed: 0 },
    raises: { 'codes-unredeemed-hourly': 60 },
  })),
  {
    what: 'codes that do not arrive, at 40 an hour',
    usual: QUIET,
    meanwhile: { ...QUIET, redeemed: 0 },
    raises: { 'codes-unredeemed-hourly': 55 },
  },
  {
    what: 'codes of the second provider that do not arrive, at 60 an hour',
    usual: { ...QUIET, sentByTheOther: 1, redeemedOfTheOther: 0.8 },
    meanwhile: { ...QUIET, sentByTheOther: 1, redeemedOfTheOther: 0.1 },
    raises: { 'codes-unredeemed': 35, 'codes-unredeemed-hourly': 58 },
  },
  {
    what: 'a flood of malformed and unknown keys',
    usual: BUSY,
    meanwhile: { ...BUSY, malformedKey: 4000, unknownKey: 4000 },
    raises: { flood: 10 },
  },
  {
    what: 'an address that the firewall blocks',
    usual: BUSY,
    meanwhile: { ...BUSY, blocked: 300 },
    raises: { flood: 10 },
  },
  {
    what: 'two addresses that load the documentation site at the limit of the firewall',
    usual: BUSY,
    meanwhile: { ...BUSY, page: 250, noPage: 50 },
    raises: { flood: 10 },
  },
  {
    what: 'somebody who guesses codes',
    usual: BUSY,
    meanwhile: { ...BUSY, wrongCode: 30 },
    raises: { 'codes-rejected': 10 },
  },
  {
    what: 'a failed verify of the buyer app above its limit',
    usual: BUSY,
    meanwhile: { ...BUSY, failedVerifyOfTheApp: 0.2 },
    raises: { 'codes-rejected': 10 },
  },
  {
    what: 'SMS near the ceiling of the stage',
    usual: { ...BUSY, smsAt10Percent: 60 },
    meanwhile: { ...BUSY, smsAt80Percent: 60 },
    raises: { 'ceiling-sms-per-day': 10 },
  },
  {
    what: 'paid checks near the ceiling of the stage',
    usual: { ...BUSY, checkAt10Percent: 60 },
    meanwhile: { ...BUSY, checkAt80Percent: 60 },
    raises: { 'ceiling-paid-checks-per-day': 10 },
  },
  {
    what: 'addresses of the service that nobody can reach',
    usual: BUSY,
    meanwhile: { canary: 'fails' },
    raises: { canary: 10 },
  },
  {
    what: 'a canary that does not run',
    usual: QUIET,
    meanwhile: { ...QUIET, canary: 'does not run' },
    raises: { canary: 25 },
  },
];

/** What raises no alarm. */
const QUIETLY_PASSED: readonly Omit<Scenario, 'raises'>[] = [
  {
    what: 'one address that loads the documentation site at the limit of the firewall',
    usual: BUSY,
    meanwhile: { ...BUSY, page: 150 },
  },
  { what: 'a quiet night', usual: QUIET, meanwhile: { list: 1 / 30 } },
  { what: 'a busy hour after a quiet night', usual: QUIET, meanwhile: BUSY },
  {
    what: 'a seller over its share at 1,000 a minute',
    usual: BUSY,
    meanwhile: { ...BUSY, sendOverShare: 1000 },
  },
  { what: 'a burst of conflicts', usual: BUSY, meanwhile: { ...BUSY, changeThatConflicts: 200 } },
  {
    what: 'one call without concurrency and one throttled call in five minutes',
    usual: BUSY,
    meanwhile: { ...BUSY, answeredByTheGateway: 0.2, listOfAThrottledTable: 0.2 },
  },
  {
    what: 'one crash, one defect, one link without a registry, and one code that is not sent and one that is not redeemed, in a quiet hour',
    usual: { list: 1 / 30 },
    meanwhile: (minute) => ({
      list: 1 / 30,
      ...(minute === 20 && { crashes: 1, listWithADefect: 1, linkByNone: 1, sendByNone: 1, send: 1 }),
    }),
  },
  {
    what: 'an operation of which every third call crashes, beside conflicts of others',
    usual: BUSY,
    meanwhile: { ...BUSY, changeThatConflicts: 20, calls: 0.4, crashes: 0.2 },
  },
  {
    what: 'one call of a port in twenty that no provider answers, and one that the second answers',
    usual: BUSY,
    meanwhile: { ...BUSY, sendByNone: 3, sendByTheSecond: 3, linkByNone: 1.5, linkByTheSecond: 1.5 },
  },
  {
    what: 'numbers that the SMS providers reject, as many as they accept',
    usual: QUIET,
    meanwhile: { ...QUIET, sendToARejectedNumber: 40 / 60 },
  },
  {
    what: 'a burst of codes every quarter of an hour, each redeemed in the five minutes after it',
    usual: QUIET,
    meanwhile: (minute) => ({
      ...QUIET,
      send: minute % 15 === 0 ? 200 : 0,
      redeemed: minute % 15 >= 1 && minute % 15 <= 5 ? 32 : 0,
    }),
  },
  {
    what: 'few wrong keys and codes, few blocked requests, and few pages',
    usual: BUSY,
    meanwhile: { ...BUSY, unknownKey: 100, wrongCode: 5, blocked: 50, page: 100 },
  },
];

describe('the alarms of prod', () => {
  test.each(RAISING)('are raised by $what: $raises', ({ usual, meanwhile, raises }) => {
    const { raised, raisedAtEnd } = raisedBy(usual, meanwhile);
    expect(Object.keys(raised).sort()).toEqual(Object.keys(raises).sort());
    for (const [name, within] of Object.entries(raises)) expect(raised[name]).toBeLessThanOrEqual(within);
    for (const minutes of Object.values(raised)) expect(minutes).toBeGreaterThan(0);
    expect(raisedAtEnd).toEqual([]);
  });

  test('are raised by a certificate that nobody renews, within an hour', () => {
    const { raised } = raisedBy(BUSY, { ...BUSY, certificateDays: 29 });
    expect(raised).toEqual({ 'certificate-expiring': expect.any(Number) });
    expect(raised['certificate-expiring']).toBeLessThanOrEqual(60);
  });

  test('stay raised for a certificate that has ended, whose metric stops', () => {
    const certificate = alarms.filter(({ name }) => name === 'certificate-expiring');
    const samples = [2, 1, 0].map((value, day) => ({
      metric: CERTIFICATE_DAYS,
      minute: day * 1440,
      arrives: day * 1440 + GATEWAY_DELAY,
      value,
      count: 1,
    }));
    expect(replay(certificate, samples, { from: 1440, until: 7 * 1440 }).raisedAtEnd).toEqual([
      'certificate-expiring',
    ]);
  });

  test('stay raised for a ceiling while nothing more is counted', () => {
    const { raised, raisedAtEnd } = raisedBy(QUIET, { ...QUIET, smsAt80Percent: 1 / 30 });
    expect([Object.keys(raised), raisedAtEnd]).toEqual([['ceiling-sms-per-day'], ['ceiling-sms-per-day']]);
  });

  test.each(QUIETLY_PASSED)('are not raised by $what', ({ usual, meanwhile }) => {
    expect(raisedBy(usual, meanwhile).raised).toEqual({});
  });

  test('are at most thirteen kinds, and each is raised by a scenario', () => {
    const raised = [...RAISING.flatMap(({ raises }) => Object.keys(raises)), 'certificate-expiring'];
    expect([...new Set(raised)].sort()).toEqual(alarms.map(({ name }) => name).sort());
    const kinds = alarms.map(({ name }) =>
      name.replace(/(?:-identity-registry|-sms|-[a-z-]+-per-day)?(?:-hourly|-\d)?$/, ''),
    );
    expect(new Set(kinds).size).toBe(13);
  });

  test('watch the crashes of each operation in one alarm', () => {
    const crashing = alarms.filter(({ name }) => name.startsWith('operations-crashing'));
    const watched = crashing.flatMap(({ metrics }) =>
      metrics.map(({ metric, statistic }) => `${statistic} ${metric}`),
    );
    const expected = allRoutes.flatMap(({ name }) => [`Sum ${errorsOf(name)}`, `Average ${errorsOf(name)}`]);
    expect(watched.toSorted()).toEqual(expected.toSorted());
  });

  test('read the metrics of AWS by the dimensions under which AWS publishes them, and those of the log by those that a line has', () => {
    const read = new Set(alarms.flatMap(({ metrics }) => metrics.map(({ metric }) => metric)));
    const logged = Object.values(requests).flatMap((request) => request.logged.map(({ metric }) => metric));
    const errors = allRoutes.map(({ name }) => errorsOf(name));
    const known = new Set([...logged, ...errors, GATEWAY_ERRORS, CANARY_ERRORS, BLOCKED, CERTIFICATE_DAYS]);
    expect([...read].filter((metric) => !known.has(metric))).toEqual([]);
  });

  test('can be created: one period in an expression, ten metrics in it, and a day of periods at most', () => {
    for (const { metrics, json } of alarms) {
      const periods = new Set(metrics.map(({ periodMinutes }) => periodMinutes));
      expect(periods.size).toBe(1);
      // The one that the replay evaluates.
      expect(json.ComparisonOperator).toBe('GreaterThanOrEqualToThreshold');
      expect(metrics.length).toBeLessThanOrEqual(10);
      expect(json.EvaluationPeriods * Math.max(...periods)).toBeLessThanOrEqual(24 * 60);
    }
  });
});

test('each kind of 5xx response of a function is recorded, so that the scenarios have all of them', () => {
  const kinds = Object.values(requests).flatMap(({ logged }) =>
    logged.flatMap(({ metric }) => /ServerErrors cause_kind=(\w+)/.exec(metric)?.[1] ?? []),
  );
  expect([...new Set(kinds)].sort()).toEqual([...CAUSE_KINDS].sort());
});
