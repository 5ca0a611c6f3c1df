import { readFileSync } from 'node:fs';
import { STAGES } from '#lib/stages.ts';

const read = (name: string): string =>
  readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');

const [scaling, performance, deploy, operations] = ['scaling', 'performance', 'deploy', 'operations'].map(
  read,
);

/** Returns the number in a cell: `15,400` is 15400. */
const numberIn = (cell = ''): number => Number(cell.replaceAll(',', ''));

/** Returns the cells of the last row that begins with a text: docs/performance.md has the costs after the other tables. */
const rowOf = (page = '', first = ''): readonly string[] => {
  const rows = page.split('\n').filter((line) => line.startsWith(`| ${first}`));
  return (rows.at(-1) ?? '').split('|').map((cell) => cell.trim());
};

const [concurrencyTable] = /\| operation \| seconds [\s\S]+?\n\n/.exec(scaling ?? '') ?? [];

/** Returns the seconds and the concurrency at 100 and at 10,000 a second of an operation. */
const concurrencyOf = (operation: string): readonly number[] =>
  rowOf(concurrencyTable, operation).slice(2, 5).map(numberIn);

const [sendSeconds = 0] = concurrencyOf('`POST /v1/auth/otp/send`');
const [linkSeconds = 0] = concurrencyOf('`POST /v1/users`, new link');

const { accountQuota, functions } = STAGES.prod.reservedConcurrency;
const reserved = Object.values(functions).reduce<number>((sum, each) => sum + each, 0);

describe('docs/scaling.md', () => {
  test.each([
    ['`GET /v1/users`', 'GET /v1/users |'],
    ['`POST /v1/auth/otp/verify`', 'POST /v1/auth/otp/verify'],
    ['`POST /v1/auth/otp/send`', 'POST /v1/auth/otp/send'],
    ['`POST /v1/users`, new link', 'POST /v1/users, new link'],
  ])(
    'calculates the concurrency of %s from the time in docs/performance.md: the larger of rate × seconds and rate / 10',
    (operation, costs) => {
      const [seconds = 0, ...concurrency] = concurrencyOf(operation);
      const billedMs = numberIn(rowOf(performance, costs)[2]);
      expect(billedMs).toBeGreaterThan(0);
      // The page has two decimals of the longer ones.
      expect(Math.abs(seconds * 1000 - billedMs)).toBeLessThanOrEqual(5);
      const needed = [100, 10_000].map((rate) => Math.round(Math.max(rate * seconds, rate / 10)));
      expect(concurrency).toEqual(needed);
    },
  );

  test('names the concurrency that prod reserves for each function, and what it serves a second', () => {
    const rate = (concurrency: number, seconds: number) => Math.round(concurrency / seconds);
    const count = (concurrency: number) => (concurrency * 10).toLocaleString('en');
    const { authorizer, 'send-otp': send, 'verify-otp': verify, 'create-user': link } = functions;
    const { 'check-user': check, 'update-user': change } = functions;
    const left = accountQuota - reserved;
    const rows = [
      `| \`authorizer\` | ${authorizer} | ${count(authorizer)} keys `,
      `| \`send-otp\` | ${send} | ${send} / ${sendSeconds} = ${rate(send, sendSeconds)} codes `,
      `| \`verify-otp\` | ${verify} | ${count(verify)} sign-ins `,
      `| \`create-user\` | ${link} | ${link} / ${linkSeconds} = ${rate(link, linkSeconds)} new links, or ${count(link)} existing ones `,
      `| \`check-user\` | ${check} | ${check} / ${linkSeconds} = ${rate(check, linkSeconds)} checks `,
      `| \`update-user\`, \`delete-user\` | ${change} each | ${count(change)} each `,
      `| all others together | ${left} left | ${count(left)} `,
    ];
    expect(functions['delete-user']).toBe(functions['update-user']);
    for (const row of rows) expect(scaling).toContain(row);
    expect(scaling).toContain(`prod reserves ${reserved} of ${accountQuota.toLocaleString('en')} `);
    expect(deploy).toContain(`\`reservedConcurrency\` of prod takes ${reserved}`);
  });

  test('and docs/deploy.md take the cost of a list from docs/performance.md', () => {
    const usd = Number(rowOf(performance, 'GET /v1/users |').at(-2));
    expect(usd).toBeGreaterThan(1);
    expect(scaling).toContain(`It costs ${usd} USD per million`);
    expect(deploy).toContain(`100 million lists a month in prod cost about`);
    expect(deploy).toContain(`${Math.round(usd * 100)} for the requests`);
  });
});

test.each(['functions-throttled', '<operation>-concurrency'])(
  'docs/operations.md says under %s which quota to request',
  (alarm) => {
    const [, section = ''] = operations?.split(`### \`${alarm}\`\n`) ?? [];
    const [text = ''] = section.split('\n### ');
    expect(text).toMatch(/request-service-quota-increase|request the quota \(\[`functions-throttled`\]/);
    expect(operations).toContain('--service-code lambda --quota-code L-B99A9384');
  },
);
