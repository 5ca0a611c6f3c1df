/** What the alarms, the access log, the saved queries and the dashboard of prod compute: the numbers of docs/operators/alarms.md. */
import { readFileSync } from 'node:fs';
import { alarmsOf } from './cloudwatch/replay.ts';
import { EVERY_OPTION, resourcesOf, templatesOf } from './synthesized.ts';

const { api } = templatesOf('prod', EVERY_OPTION);

/** Each with what it computes, from which value on, in how many of how many periods of how many minutes, and what missing data is. */
test('the alarms of prod compute what docs/operators/alarms.md says, each with its number, its periods and its treatment of missing data', () => {
  const numbers = alarmsOf(api, 'buyer-linking-prod-')
    .filter(({ name }) => !name.startsWith('operations-crashing'))
    .map(({ name, expression, metrics, json }) => {
      const value = expression === 'only' ? metrics[0]?.statistic : expression;
      const periods = `${json.DatapointsToAlarm} of ${json.EvaluationPeriods} x ${metrics[0]?.periodMinutes}`;
      return [name, `${value} >= ${json.Threshold}, ${periods} ${json.TreatMissingData}`] as const;
    });
  expect(Object.fromEntries(numbers)).toEqual({
    'server-errors':
      'responses - provider - limit - conflict - dependency - defect - undecided >= 5, 2 of 3 x 5 notBreaching',
    'operations-failing': 'defects + responses * 0 >= 3, 1 of 1 x 60 notBreaching',
    'service-unavailable': 'unavailable + undecided + uncounted + unread >= 5, 1 of 2 x 5 notBreaching',
    'slow-reads': 'p99 >= 2000, 3 of 3 x 5 notBreaching',
    'providers-unavailable-identity-registry':
      'IF(calls >= 5 AND share >= 0.2, 1, 0) >= 1, 1 of 1 x 15 notBreaching',
    'providers-failing-identity-registry':
      'IF(calls >= 5 AND share >= 0.2, 1, 0) >= 1, 1 of 1 x 15 notBreaching',
    'providers-unavailable-sms': 'IF(calls >= 5 AND share >= 0.2, 1, 0) >= 1, 1 of 1 x 15 notBreaching',
    'providers-failing-sms': 'IF(calls >= 5 AND share >= 0.2, 1, 0) >= 1, 1 of 1 x 15 notBreaching',
    'providers-unavailable-hourly':
      'IF(calls0 >= 3 AND share0 >= 0.5, 1, 0) + IF(calls1 >= 3 AND share1 >= 0.5, 1, 0) >= 1, 1 of 1 x 60 notBreaching',
    'codes-unredeemed':
      'IF(sent0 >= 10 AND redeemed0 < sent0 * 0.2, 1, 0) + IF(sent1 >= 10 AND redeemed1 < sent1 * 0.2, 1, 0) >= 1, 2 of 2 x 15 notBreaching',
    'codes-unredeemed-hourly':
      'IF(redeemed0 < sent0 * 0.5, 1, 0) + IF(redeemed1 < sent1 * 0.5, 1, 0) >= 1, 3 of 3 x 20 notBreaching',
    flood:
      '(malformed + unknown) / 9000 + (pages + missing) / 1500 + blocked / 1000 >= 1, 1 of 2 x 5 notBreaching',
    'codes-rejected': 'above + rejected / 100 >= 1, 1 of 2 x 5 notBreaching',
    'ceiling-paid-checks-per-day': 'Maximum >= 80, 1 of 1 x 5 ignore',
    'ceiling-sms-per-day': 'Maximum >= 80, 1 of 1 x 5 ignore',
    'certificate-expiring': 'IF(days <= 30, 1, 0) >= 1, 1 of 1 x 1440 breaching',
    canary: 'Sum >= 1, 2 of 3 x 5 breaching',
  });
});

test('the alarms that look back an hour, and so stay raised up to an hour after the fault, are those that docs/operators/alarms.md names', () => {
  const names = alarmsOf(api, 'buyer-linking-prod-')
    .filter(({ json, metrics }) => json.EvaluationPeriods * Number(metrics[0]?.periodMinutes) === 60)
    .map(({ name }) => name.replace(/^.+-hourly$/, '-hourly').replace(/\d$/, '…'));
  expect([...new Set(names)].sort()).toEqual(['-hourly', 'operations-crashing-…', 'operations-failing']);
  expect(readFileSync(new URL('../../docs/operators/alarms.md', import.meta.url), 'utf8')).toMatch(
    /ending in `-hourly` and `operations-crashing-…` .+ These and `operations-failing` end up to an hour after the fault/,
  );
});

test('the access log has the value of each field that a runbook reads', () => {
  const [stage] = Object.values(resourcesOf(api, 'AWS::ApiGateway::Stage'));
  expect(JSON.parse(stage?.Properties.AccessLogSetting.Format)).toEqual({
    time: '$context.requestTime',
    request_id: '$context.extendedRequestId',
    domain: '$context.domainName',
    method: '$context.httpMethod',
    resource: '$context.resourcePath',
    status: '$context.status',
    refusal: '$context.error.responseType',
    key_id: '$context.authorizer.principalId',
    seller_id: '$context.authorizer.sellerId',
    address: '$context.identity.sourceIp',
    latency_ms: '$context.responseLatency',
    authorizer_status: '$context.authorizer.status',
    authorizer_ms: '$context.authorizer.latency',
    function_status: '$context.integrationStatus',
    function_ms: '$context.integrationLatency',
    function_request_id: '$context.awsEndpointRequestId',
    response_bytes: '$context.responseLength',
  });
});

test('the saved log queries filter as the runbooks say, and that of a seller shows the latest 200', () => {
  const queries = Object.values(resourcesOf(api, 'AWS::Logs::QueryDefinition')).map(({ Properties }) => ({
    name: Properties.Name.replace('buyer-linking-prod-api/', ''),
    text: Properties.QueryString as string,
  }));
  const filters = queries.map(({ name, text }) => [name, /^(?:\| )?filter (.+)$/m.exec(text)?.[1]]);
  expect(Object.fromEntries(filters)).toEqual({
    '5xx by cause': 'event = "request_completed" and status >= 500',
    '5xx by seller': 'status >= 500',
    'calls without an answer':
      'event in ["rate_limiter_unreachable", "secret_refresh_failed"] or cause_kind = "dependency" or outcome = "unavailable"',
    'codes by seller': 'event in ["code_sent", "code_redeemed"]',
    'failing providers': 'event = "provider_failed" or cause_kind = "provider"',
    'internal errors': 'event = "request_failed"',
    'limits used up': 'event in ["key_limit_used_up", "failed_verifies_above_limit"]',
    'one request':
      'request_id = "<id>" or requestId = "<function_request_id>" or record.requestId = "<function_request_id>"',
    'refused by address': 'status = 401 or status = 429',
    'requests of a key': 'key_id = "<id>"',
    'requests of a seller': 'event = "request_completed" and seller_id = "<id>"',
    'requests that cost':
      'event = "request_completed" and operation in ["create-user", "check-user", "send-otp"]',
    'slow lists': 'event = "request_completed" and operation = "list-users"',
    'unreadable responses': 'event = "request_completed" and cause_reason in ["no_verdict", "malformed"]',
    'wrong codes': 'resource = "/v1/auth/otp/verify"',
  });
  expect(queries.filter(({ text }) => text.endsWith('\n| limit 200')).map(({ name }) => name)).toEqual([
    'requests of a seller',
  ]);
});

test('the graphs of the dashboard have the statistic of their title, each minute', () => {
  const [dashboard] = Object.values(resourcesOf(api, 'AWS::CloudWatch::Dashboard'));
  const body: string = dashboard?.Properties.DashboardBody['Fn::Join'][1]
    .map((part: unknown) => (typeof part === 'string' ? part : 'x'))
    .join('');
  interface Widget {
    readonly properties: { readonly title: string; readonly metrics?: readonly (readonly unknown[])[] };
  }
  const { widgets }: { widgets: Widget[] } = JSON.parse(body);
  const statistics = widgets.flatMap(({ properties: { title, metrics } }) => {
    const texts = metrics?.map((metric) => JSON.stringify(metric)) ?? [];
    const found = texts.map((text) => /"stat":"(\w+)"/.exec(text)?.[1] ?? /', '(\w+)', 60\)/.exec(text)?.[1]);
    return metrics === undefined || texts.some((text) => !text.includes('"period":60'))
      ? []
      : [[title, [...new Set(found)].join(' ')]];
  });
  expect(Object.fromEntries(statistics)).toEqual({
    'Responses by operation and code': 'SampleCount',
    'Traffic by plan': 'Sum',
    'Function time by operation (p99 of successful requests, ms)': 'p99',
    'API Gateway latency (ms) and 5xx responses': 'p50 p99 Sum',
    'Server errors by what they come from': 'Sum',
    'Calls of a port that no provider answered, or not the first one': 'Sum',
    'Key checks by result': 'Sum',
    'Provider calls by outcome': 'Sum',
    'Provider time (p99, ms)': 'p99',
    'Table: consumed capacity': 'Sum',
    'Calls to AWS that passed without an answer': 'Sum',
  });
});
