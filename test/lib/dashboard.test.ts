import { EVENTS } from '#shared/log.ts';
import { allRoutes } from '#shared/routes.ts';
import { alarmsOf } from './cloudwatch/replay.ts';
import { EVERY_OPTION, resourcesOf, templatesOf } from './synthesized.ts';

const { api } = templatesOf('prod', EVERY_OPTION);
const alarms = alarmsOf(api, 'buyer-linking-prod-');

/** Whether an event records the metric by exactly these dimensions: CloudWatch has no data of any others. */
const isRecorded = ([name, ...dimensions]: readonly string[]): boolean =>
  Object.values(EVENTS).some(({ metrics }) =>
    Object.entries(metrics).some(
      ([recorded, { dimensions: sets }]) =>
        recorded === name &&
        sets.some((set: readonly string[]) => [...set].sort().join() === [...dimensions].sort().join()),
    ),
  );

describe('the dashboard', () => {
  const [dashboard] = Object.values(resourcesOf(api, 'AWS::CloudWatch::Dashboard'));
  const body: string = dashboard?.Properties.DashboardBody['Fn::Join'][1]
    .map((part: unknown) => (typeof part === 'string' ? part : 'x'))
    .join('');

  test('shows traffic by operation and plan, responses by code, providers and the table', () => {
    const shown = [
      ...allRoutes.map(({ name }) => name),
      '"plan',
      'operation,outcome',
      'provider,provider_operation,outcome',
      'ConsumedWriteCapacityUnits',
    ];
    expect(shown.filter((text) => !body.includes(text))).toEqual([]);
  });

  interface Graph {
    readonly properties: { readonly metrics?: readonly (readonly [unknown, string, ...unknown[]])[] };
  }

  /** The metrics that the graphs read, each as its name and its dimensions. */
  const read = (JSON.parse(body).widgets as readonly Graph[])
    .flatMap(({ properties: { metrics = [] } }) => metrics)
    .flatMap(([first, name, ...rest]) => {
      const { expression = '' } = (first ?? {}) as { expression?: string };
      const search =
        /^SEARCH\('\{BuyerLinking\/prod,?([^}]*)\} MetricName="(\w+)"', '(?:Sum|SampleCount|p99)', 60\)$/.exec(
          expression,
        );
      if (search !== null) return [[String(search[2]), ...String(search[1]).split(',')]];
      if (first !== 'BuyerLinking/prod') return [];
      const dimensions = rest.filter((each, index) => index % 2 === 0 && typeof each === 'string');
      return [[name, ...dimensions.map(String)]];
    });

  test('shows metrics that an event records by these dimensions', () => {
    expect(read.length).toBeGreaterThan(20);
    expect(read.filter((metric) => !isRecorded(metric))).toEqual([]);
  });

  test('and the alarms read every metric that an event records, since CloudWatch bills each', () => {
    const byAlarms = alarms
      .flatMap(({ metrics }) => metrics)
      .map(({ metric }) => metric.split(' ').slice(1))
      .map(([name, ...dimensions]) => [String(name), ...dimensions.map((each) => each.replace(/=.*/, ''))]);
    const used = new Set(
      [...read, ...byAlarms].map(([name, ...dimensions]) => [name, ...dimensions.sort()].join()),
    );
    const recorded = Object.values(EVENTS).flatMap(({ metrics }) =>
      Object.entries(metrics).flatMap(([name, { dimensions }]) =>
        dimensions.map((set: readonly string[]) => [name, ...[...set].sort()].join()),
      ),
    );
    expect(recorded.length).toBeGreaterThan(10);
    expect(recorded.filter((metric) => !used.has(metric))).toEqual([]);
  });

  test('shows every alarm', () => {
    const { widgets }: { widgets: { type: string; properties: { alarms: string[] } }[] } = JSON.parse(body);
    const shown = widgets.flatMap(({ type, properties }) => (type === 'alarm' ? properties.alarms : []));
    expect(shown).toHaveLength(alarms.length);
  });
});
