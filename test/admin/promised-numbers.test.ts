/** The numbers of production of the admin and its CLI, each with the sentence that promises it: of a page for operators, or of `--help`. */
import { readFileSync } from 'node:fs';
import { mock } from 'node:test';
import type { Command } from 'commander';
import { programFor } from '#admin/cli/commands/program.ts';
import { openAdminTable } from '#admin/cli/connection.ts';
import { collectLimit } from '#admin/cli/option-parsers.ts';
import { writeKey } from '#admin/operations/key-state.ts';
import { ISSUE_GRACE_MS } from '#admin/operations/reconcile.ts';
import { STEP_WAIT_MS } from '#admin/operations/rotate-hash-secret.ts';
import { apiGatewayClient } from '#admin/usage-plans/api-gateway.ts';
import { KEY_QUOTA, KEY_QUOTA_WARNING } from '#admin/usage-plans/port.ts';
import { deployments } from '#bin/deployments.ts';
import { recordingTerminal } from './cli/recording-terminal.ts';

const program = programFor(recordingTerminal().terminal, deployments);

const commandNamed = (name: string): Command =>
  name
    .split(' ')
    .reduce(
      (command, word) => command.commands.find((child) => child.name() === word) as Command,
      program as Command,
    );

const optionOf = (command: string, name: string) =>
  commandNamed(command).options.find(({ long }) => long === name);

/** The default of an option, and the largest value that it accepts among the given one and the next. */
const numbersOf = (command: string, name: string, largest: number) => {
  const option = optionOf(command, name);
  const parse = (value: number) => option?.parseArg?.(String(value), undefined);
  expect(() => parse(largest + 1)).toThrow(`It must be a whole number from 1 to ${largest}.`);
  return [option?.defaultValue, parse(largest)];
};

const AWS = { region: 'eu-central-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

/** The tries of a call and the time limits of each, of a client of the SDK. */
const settingsOf = async ({ config }: ReturnType<typeof apiGatewayClient> | ReturnType<typeof openTable>) => {
  const { configProvider } = config.requestHandler as unknown as {
    configProvider: Promise<Readonly<Record<string, unknown>>>;
  };
  const { connectionTimeout, requestTimeout, throwOnRequestTimeout } = await configProvider;
  return [await config.maxAttempts(), connectionTimeout, requestTimeout, throwOnRequestTimeout];
};

const openTable = () => openAdminTable('table', AWS).client;

/** How many seconds a change of a key is tried again while others change it, at a try each second. */
const secondsOfWrites = async (): Promise<number> => {
  let [nowMs, tries] = [0, 0];
  mock.method(Math, 'random', () => 0);
  mock.method(performance, 'now', () => {
    nowMs += 1000;
    return nowMs;
  });
  const found = async () => ({ status: 'active', seller_id: 'sel_1' });
  const admin = { keys: { find: found }, sellers: { find: found } } as unknown as Parameters<
    typeof writeKey
  >[0];
  const write = async () => {
    tries += 1;
    return undefined;
  };
  await expect(writeKey(admin, { key_id: 'key_1' }, write)).rejects.toMatchObject({
    code: 'service_unavailable',
  });
  mock.restoreAll();
  return tries - 1;
};

const ADMIN = 'docs/operators/admin.md';
const helpOf = (command: string) => `--help of ${command}`;

const textOf = (place: string): string =>
  place.startsWith('--help of ')
    ? commandNamed(place.replace('--help of ', '')).helpInformation()
    : readFileSync(new URL(`../../${place}`, import.meta.url), 'utf8');

type Row = readonly [what: string, value: () => unknown, expected: unknown, place: string, sentence: string];

const NUMBERS: readonly Row[] = [
  [
    'the time after which a key whose issue was interrupted is removed',
    () => ISSUE_GRACE_MS,
    120_000,
    ADMIN,
    'removes a key whose issue began two minutes ago and was interrupted',
  ],
  [
    'the tries and time limits of the client of the table',
    () => settingsOf(openTable()),
    [10, 3000, 20_000, true],
    ADMIN,
    'tried 10 times: of the table for up to 20 s each time',
  ],
  [
    'the tries and time limits of the client of API Gateway',
    () => settingsOf(apiGatewayClient(AWS)),
    [10, 3000, 30_000, true],
    ADMIN,
    'of API Gateway for up to 30 s',
  ],
  [
    'the time in which a change of a key is written beside others',
    secondsOfWrites,
    10,
    ADMIN,
    'A change that others overtake is tried again for 10 s',
  ],
  [
    'the quota of keys, and the number from which a warning is written',
    () => [KEY_QUOTA, KEY_QUOTA_WARNING],
    [10_000, 8000],
    ADMIN,
    'AWS allows 10,000 API keys per account and Region and does not raise this. From 8,000 on, `keys issue` warns.',
  ],
  [
    'the wait between the steps of a rotation of the hash secret',
    () => STEP_WAIT_MS,
    1_200_000,
    'docs/operators/operations.md',
    '# step 2, 20 minutes later, refused earlier',
  ],
  [
    'the time that an old secret stays valid by default',
    () => optionOf('keys rotate', '--grace')?.defaultValue,
    86_400,
    ADMIN,
    'the old secret ends after `--grace` (24 hours, at most 30 days',
  ],
  [
    'the time until which keys expire that are listed by default',
    () => optionOf('keys list', '--expiring')?.presetArg,
    '14d',
    helpOf('keys list'),
    '(preset: "14d")',
  ],
  [
    'the largest limit of a key',
    () => {
      expect(() => collectLimit('sms-per-hour=1000000001')).toThrow('at most 1000000000');
      return collectLimit('sms-per-hour=1000000000');
    },
    { 'sms-per-hour': 1_000_000_000 },
    ADMIN,
    '`--set` is a number from 0 to 1,000,000,000.',
  ],
  [
    'the days of usage, by default and at most',
    () => numbersOf('usage', '--days', 35),
    [7, 35],
    ADMIN,
    '`usage` shows what the seller reads from `GET /v1/key/usage`, of at most 35 days',
  ],
  [
    'the records of the audit, by default and at most',
    () => numbersOf('audit', '--limit', 1000),
    [50, 1000],
    helpOf('audit'),
    '(default: 50)',
  ],
  [
    'the users in a list, by default and at most',
    () => numbersOf('users list', '--limit', 1_000_000),
    [100, 1_000_000],
    helpOf('users list'),
    '(default: 100)',
  ],
];

it.each(
  NUMBERS.map(
    ([what, value, expected, place, sentence]) => [what, place, { value, expected, sentence }] as const,
  ),
)('%s: the value in production is the one in %s', async (_what, place, { value, expected, sentence }) => {
  expect(await value()).toEqual(expected);
  expect(textOf(place)).toContain(sentence);
});
