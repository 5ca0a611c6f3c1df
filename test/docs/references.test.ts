/** The tables and links of the docs against the code. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  codeLimitTable,
  duration,
  keyLimitTable,
  personLimitTable,
  planLimitTable,
  reasonTable,
  retryTable,
} from '#openapi/limit-tables.ts';
import { operationTable } from '#openapi/operation-table.ts';
import { MAX_BODY_BYTES } from '#shared/http/input.ts';
import { CODE_LIMITS } from '#shared/one-time-codes/rules.ts';
import { INPUT_ERROR_CODES, PROBLEMS, type ProblemCode, REASONS } from '#shared/problems.ts';
import { KEY_LIMIT_NAMES, KEY_LIMITS } from '#shared/rate-limits/key-limits.ts';
import { PLAN_NAMES, PLANS } from '#shared/rate-limits/plans.ts';
import { ITEM_PREFIXES } from '#shared/table/keys.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '#shared/users/page-schema.ts';
import { MAX_NAME_CHARACTERS } from '#shared/values/display-name.ts';
import { itForAll } from '#test/for-all.ts';
import { STRATEGIES, simulateMonth } from '#test/shared/one-time-codes/guessing.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { documentedOutcomes } from './test-identities-page.ts';

/** `Headers of a response` -> `headers-of-a-response`, as GitHub does. */
const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

const REPOSITORY = new URL('../../', import.meta.url);

const textOf = (file: string): string => readFileSync(new URL(file, REPOSITORY), 'utf8');

const DOCUMENTS = globSync(['*.md', 'client/*.md', 'docs/**/*.md'], {
  cwd: fileURLToPath(REPOSITORY),
});

describe('docs/sellers/limits.md', () => {
  const limits = textOf('docs/sellers/limits.md');

  it.each([
    ['the rate limits of plans', planLimitTable()],
    ['the hourly and daily limits of keys', keyLimitTable()],
    ['the limits of phones', codeLimitTable()],
    ['the lifetime of a code', `A code is valid for ${duration(CODE_LIMITS.lifetimeSeconds)}.`],
    ['the checks of a person', personLimitTable()],
    ['the size of a body', `| Body | ${MAX_BODY_BYTES / 1024} KB |`],
    ['the length of a display name', `| ${MAX_NAME_CHARACTERS} characters |`],
    ['the page size', `| ${MAX_PAGE_SIZE}, default ${DEFAULT_PAGE_SIZE} |`],
  ])('has %s as the code has them', (_title, text) => {
    expect(limits).toContain(text);
  });
});

describe('docs/sellers/other-languages.md', () => {
  it('has the time limit of a request that both clients have', () => {
    const [, python] = /^TIMEOUT_SECONDS = (\d+)$/m.exec(textOf('client/python/buyer_linking.py')) ?? [];
    const [, typescript] = /\btimeoutMs: (\d+)_000\b/.exec(textOf('client/src/options.ts')) ?? [];
    expect([python, typescript]).toEqual(['30', '30']);
    expect(textOf('docs/sellers/other-languages.md')).toContain(`| timeout | ${python} seconds |`);
    expect(textOf('client/README.md')).toContain(`has a timeout of ${typescript} seconds`);
  });
});

describe('the documentation site', () => {
  it('loads the page that is shown and none that it links, or a visit would use up the throttle of the site', () => {
    expect(textOf('docs/.vitepress/config.ts')).toContain('router: { prefetchLinks: false }');
    expect(textOf('docs/operators/security.md')).toContain(
      'The documentation site: 10 requests a second for each path',
    );
  });
});

describe('README.md', () => {
  it('lists the published operations as the code has them', () => {
    expect(textOf('README.md')).toContain(operationTable());
  });
});

/** The codes that every seller meets. They come first on the page. */
const MET_FIRST: readonly ProblemCode[] = [
  'validation_failed',
  'buyer_not_registered',
  'identity_mismatch',
  'phone_not_owned',
  'rate_limit_exceeded',
  'verification_unavailable',
];

describe.each(['docs/sellers/errors.md', 'docs/sellers/fa/errors.md'])('%s', (page) => {
  it('lists every problem code with its status: six first, the others in the order of the code', () => {
    const rows = [...textOf(page).matchAll(/^\| (?:`|<code>)(\w+)(?:`|<\/code>) \| (\d+) \|/gm)].map(
      ([, code, status]) => [code, Number(status)],
    );
    const others = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => !MET_FIRST.includes(code));
    expect(rows).toEqual([...MET_FIRST, ...others].map((code) => [code, PROBLEMS[code].status]));
  });

  it('lists every reason of each code, and names every code of a wrong field', () => {
    const rows = [...textOf(page).matchAll(/^\| (?:`|<code>)(\w+)(?:`|<\/code>) \| ((?:`|<code>).+?) \|/gm)];
    const found = rows
      .filter(([, code]) => String(code) in REASONS)
      .map(([, code, words]) => [code, words?.replace(/`|<\/?code>/g, '').split(/[,،] /)]);
    const reasons = Object.entries(REASONS).map(([code, meanings]) => [code, Object.keys(meanings)]);
    const listed = Map.groupBy(found, ([code]) => code);
    expect([...listed].map(([code, rows]) => [code, rows.flatMap(([, words]) => words)])).toEqual(reasons);
    expect(INPUT_ERROR_CODES.filter((word) => !textOf(page).includes(word))).toEqual([]);
  });
});

describe('docs/sellers/fa/limits.md', () => {
  const limits = textOf('docs/sellers/fa/limits.md');
  const number = (value: number): string => value.toLocaleString('fa-IR');

  it('has the rate limits of plans and the limits of keys as the code has them', () => {
    const plans = [...limits.matchAll(/^\| [^|]+ \(<code>(\w+)<\/code>\) \| (\S+) \|$/gm)];
    expect(plans.map(([, ...cells]) => cells)).toEqual(
      PLAN_NAMES.map((name) => [name, number(PLANS[name].requestsPerMinute)]),
    );
    const rows = [...limits.matchAll(/^\| <code>([\w-]+)<\/code> \|.*\| رایگان (\S+)، حرفه‌ای (\S+) \|$/gm)];
    expect(rows.map(([, ...cells]) => cells)).toEqual(
      KEY_LIMIT_NAMES.map((name) => [
        name,
        ...PLAN_NAMES.map((plan) => number(KEY_LIMITS[name].byPlan[plan])),
      ]),
    );
  });
});

describe('the Persian pages', () => {
  const pages = globSync('docs/sellers/fa/*.md', { cwd: fileURLToPath(REPOSITORY) });

  itForAll(pages)('have no cell of a table in English', (page) => {
    const cells = [...textOf(page).matchAll(/^\|.*\|$/gm)].flatMap(([row]) => row.split('|').slice(1, -1));
    const prose = cells.map((cell) => cell.replace(/<code[^>]*>.*?<\/code>|\]\([^)]*\)/g, ''));
    // `user_conflict`, `HTTP` and `API Gateway` are names.
    expect(prose.filter((cell) => /[a-z]{2}/.test(cell))).toEqual([]);
  });

  it('list every outcome of the test people and phones', () => {
    const page = textOf('docs/sellers/fa/test-identities.md').replace(/<\/?code[^>]*>/g, '');
    const patterns = [...documentedOutcomes('People who fail'), ...documentedOutcomes('Phones')].flatMap(
      ({ prefix, example, response }) => [
        prefix.replace(', ', '، '),
        example.replace(', ', '، '),
        response.split(',', 1)[0],
      ],
    );
    expect(patterns.filter((pattern) => !page.includes(`| ${pattern}`))).toEqual([]);
  });
});

describe('docs/sellers/errors.md', () => {
  it('names the requests that are not safe to repeat', () => {
    expect(textOf('docs/sellers/errors.md')).toContain(retryTable());
  });

  it('has the reasons of problems as the code has them', () => {
    expect(textOf('docs/sellers/errors.md')).toContain(reasonTable());
  });
});

describe('docs/operators/security.md', () => {
  it('has the results of the simulated month of guessing', () => {
    const rows = STRATEGIES.map(simulateMonth).map((result) =>
      [
        result.strategy,
        result.sms,
        result.refusedSends,
        result.guesses,
        result.daysUntilLockedForGood ?? 'never',
        result.chance.toExponential(5),
      ].join(' | '),
    );
    expect(rows.filter((row) => !textOf('docs/operators/security.md').includes(`| ${row} |`))).toEqual([]);
  });
});

describe('docs/contributors/table.md', () => {
  it('has a row for each prefix of a partition key', () => {
    const page = textOf('docs/contributors/table.md');
    expect(
      ITEM_PREFIXES.filter((prefix) => !page.includes(`| ${prefix}`) && !page.includes(`\`${prefix}`)),
    ).toEqual([]);
  });
});

describe('every page', () => {
  it('runs only scripts of package.json, with options that the script has', () => {
    const commands = DOCUMENTS.flatMap((file) => [
      ...textOf(file).matchAll(/\bnpm run ([\w:-]+)(?: -- ([^`#|\n]*))?/g),
    ]);
    expect(commands.length).toBeGreaterThan(100);
    const unknown = commands.flatMap(([, script = '', options = '']) => {
      const command: string | undefined = Object.entries(packageJson.scripts).find(
        ([name]) => name === script,
      )?.[1];
      if (command === undefined) return [script];
      const [file] = /bin\/(?:smoke|stage|openapi)\.ts/.exec(command) ?? [];
      if (file === undefined) return [];
      const named = options.match(/--[a-z-]+/g) ?? [];
      return named
        .filter((option) => !textOf(file).includes(`  ${option} `))
        .map((option) => `${script} ${option}`);
    });
    expect(unknown).toEqual([]);
  });

  itForAll(DOCUMENTS)('links only to files and headings that exist', (file) => {
    const headingsOf = (text: string): string[] =>
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => slug(String(heading)));
    const targets = [...textOf(file).matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => String(target));
    const broken = targets
      .filter((target) => !/^\w+:/.test(target))
      .filter((target) => {
        const [path = '', heading] = target.split('#');
        const url = path === '' ? new URL(file, REPOSITORY) : new URL(path, new URL(file, REPOSITORY));
        if (!existsSync(url)) return true;
        return heading !== undefined && !headingsOf(readFileSync(url, 'utf8')).includes(heading);
      });
    expect(broken).toEqual([]);
  });
});
