/** Runs every code sample of the reference page as a reader would, against a running service. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KEY_VARIABLE, type SampleLanguage, TOKEN_VARIABLE } from '#reference/pages/sample-programs.ts';
import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import type { ObjectSchema, Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { PHONE_EXAMPLE } from '#shared/values/schemas.ts';
import { jsonOf, startCommand } from '#test/admin/cli/cli-process.ts';
import { newPhone } from '#test/generated-people.ts';
import { operations, sampleText } from '#test/reference/pages/sample-text.ts';
import { registerBuyer } from '#test/scenarios/buyers.ts';
import { localTarget } from '#test/service/local-target.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';

const run = promisify(execFile);

let service: RunningService;
let folder: string;
let token: string;

beforeAll(async () => {
  service = await startRunningService({ args: ['--memory'] });
  token = await registerBuyer(localTarget(service.demo), newPhone());
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-samples-'));
});

afterAll(async () => {
  await service?.stop();
  await removeDataFolder(service?.folder);
  await rm(folder, { recursive: true, force: true });
});

/** Returns a sample as the page shows it: docs-page.browser.ts compares the two. */
const sampleOf = (operationId: string, language: SampleLanguage): string => {
  const operation = operations.find(({ id }) => id === operationId);
  if (operation === undefined) throw new Error(`${operationId}: not in openapi.json`);
  return sampleText(operation, language, service.demo.base_url);
};

interface Program {
  readonly file: string;
  readonly command: string;
  /** What must be installed. */
  readonly needs: string;
}

const PROGRAMS: Readonly<Record<SampleLanguage, Program>> = {
  curl: { file: 'sample.sh', command: 'sh', needs: 'curl' },
  typescript: { file: 'sample.mts', command: process.execPath, needs: process.execPath },
  python: { file: 'sample.py', command: 'python3', needs: 'python3' },
  php: { file: 'sample.php', command: 'php', needs: 'php' },
};

const isInstalled = (language: SampleLanguage): boolean =>
  spawnSync(PROGRAMS[language].needs, ['--version']).status === 0;

/** The demo key whose scopes a sample needs, where `free` lacks them. */
const OTHER_KEYS: Readonly<Record<string, 'app' | 'events'>> = {
  'end-link': 'app',
  'find-links': 'app',
  'list-events': 'events',
};

/** Issues a key that can be rotated: one that was has two valid secrets until the old one ends. */
const newRotatingKey = async (): Promise<string> => {
  const issue = ['keys', 'issue', service.demo.seller_id, '--plan', 'free', '--scopes', 'key:rotate'];
  return (await jsonOf(startCommand(['--data', service.folder, '--json', ...issue]).ended)).key;
};

const outputOf = async (sample: string, language: SampleLanguage, operationId = ''): Promise<string> => {
  const { file, command } = PROGRAMS[language];
  await writeFile(join(folder, file), sample);
  const env = {
    PATH: process.env.PATH,
    [TOKEN_VARIABLE]: token,
    [KEY_VARIABLE]:
      operationId === 'rotate-key'
        ? await newRotatingKey()
        : service.demo.keys[OTHER_KEYS[operationId] ?? 'free'],
  };
  return (await run(command, [file], { cwd: folder, env })).stdout.trim();
};

/** Returns what the sample of an operation prints. `changes`: example value -> the reader's own value. */
const printed = (
  operationId: string,
  language: SampleLanguage,
  changes: readonly (readonly [string, string])[] = [],
): Promise<string> => {
  const sample = changes.reduce(
    (text, [from, to]) => {
      expect(text).toContain(from);
      return text.replaceAll(from, to);
    },
    sampleOf(operationId, language),
  );
  return outputOf(sample, language, operationId);
};

const idIn = (output: string): string => /usr_\w{22}/.exec(output)?.[0] ?? '';

const published = allRoutes.filter(({ tag }) => tag !== undefined);

/** Those whose samples need the effect of another one, a new user or a code that was sent, or print nothing. All others are run as they are. */
const IN_ORDER = ['create-user', 'delete-user', 'end-link', 'send-otp', 'verify-otp'];

/** Returns what the sample of a row must print: the required fields of its response, or the beginning of a page. */
const expectedOf = ({ name, responses }: Route): readonly string[] => {
  const [success] = Object.values(responses);
  const entries = (success?.schema as Partial<ObjectSchema> | undefined)?.entries ?? {};
  const fields = Object.keys(entries).filter((name) => entries[name]?.type !== 'optional');
  const expected = success?.mediaType === undefined ? fields : ['<!doctype html>'];
  if (expected.length === 0) throw new Error(`${name}: its response has no fields to look for`);
  return expected;
};

const EXAMPLE_ID = 'usr_000002bv0aLkW9yRc3mNpd';
const EXAMPLE_CODE = '123456';

const describeLanguage = (language: SampleLanguage, phone: string): void => {
  const [describeIf, reason] = isInstalled(language)
    ? [describe, '']
    : [describe.skip, ` (skipped: no ${PROGRAMS[language].needs})`];

  describeIf(`the ${language} samples${reason}`, () => {
    it('link, read and remove the example buyer, and print the response of every other operation', async () => {
      const id = idIn(await printed('create-user', language));
      expect(id).not.toBe('');
      expect(await printed('list-users', language)).toContain(id);
      for (const row of published.filter(({ name }) => !IN_ORDER.includes(name))) {
        const ownId = row.path.includes('/users/{id}') ? [[EXAMPLE_ID, id] as const] : [];
        const output = await printed(row.name, language, ownId);
        for (const text of expectedOf(row)) expect(output).toContain(text);
      }
      expect(await printed('end-link', language)).toBe('');
      expect(await printed('delete-user', language, [[EXAMPLE_ID, id]])).toBe('');
      expect(await printed('list-users', language)).not.toContain(id);
    });

    it('send and verify a code', async () => {
      const own = [PHONE_EXAMPLE, phone] as const;
      expect(await printed('send-otp', language, [own])).toMatch(/resend_after\W+60/);
      const output = await printed('verify-otp', language, [own, [EXAMPLE_CODE, sandboxCode(phone)]]);
      expect(output).toMatch(/token_type\W+Bearer/);
    });
  });
};

describeLanguage('curl', '+989990000001');
describeLanguage('typescript', '+989990000002');
describeLanguage('python', '+989990000003');
describeLanguage('php', '+989990000004');

describe('the samples', () => {
  it('exist for every published operation', () => {
    expect(operations.map(({ id }) => id).sort()).toEqual(published.map(({ name }) => name).sort());
  });
});

describe('a sample whose request is refused', () => {
  const programs = (['typescript', 'python', 'php'] as const).filter(isInstalled);

  it.each(programs)('ends %s with the problem', async (language) => {
    const wrong = sampleOf('get-user', language);
    await expect(outputOf(wrong, language)).rejects.toMatchObject({
      stderr: expect.stringContaining('user_not_found'),
    });
  });
});
