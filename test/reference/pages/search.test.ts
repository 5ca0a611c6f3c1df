import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePages } from '#reference/pages/write-pages.ts';
import { type DocsFile, type DocsFileName, GUIDE_NAMES, storedName } from '#shared/docs/files.ts';
import { PROBLEMS } from '#shared/problems.ts';
import { KEY_LIMIT_NAMES } from '#shared/rate-limits/key-limits.ts';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { LOCAL_SITE } from './sites.ts';

interface Entry {
  readonly title: string;
  readonly page: string;
  readonly href: string;
  readonly words: string;
}

let folder: string;
let entries: readonly Entry[];

const readPage = async (name: DocsFileName): Promise<DocsFile> =>
  JSON.parse(await readFile(join(folder, storedName(name)), 'utf8'));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-search-'));
  await writePages(folder, LOCAL_SITE, ['search', 'reference', 'key', ...GUIDE_NAMES]);
  entries = JSON.parse((await readPage('search')).body);
});

afterAll(() => rm(folder, { recursive: true }));

const hrefsOf = (title: string): readonly string[] =>
  entries.filter((entry) => entry.title === title).map(({ href }) => href);

describe('the index of the search', () => {
  it('leads to ids that exist on pages that exist', async () => {
    const bodies = new Map(
      await Promise.all(
        (['reference', 'key', ...GUIDE_NAMES] as const).map(async (name) => {
          const path = name === 'reference' ? 'docs' : `docs/${name}`;
          return [path, (await readPage(name)).body] as const;
        }),
      ),
    );
    const lost = entries.filter(({ href }) => {
      const [path = '', id] = href.split('#');
      const body = bodies.get(path);
      return body === undefined || (id !== undefined && !body.includes(` id="${id}"`));
    });
    expect(lost).toEqual([]);
  });

  it('has every error code, at its row of the guide', () => {
    for (const code of Object.keys(PROBLEMS)) expect(hrefsOf(code)).toContain(`docs/errors#${code}`);
  });

  it('has every limit of a key, at its row of the guide', () => {
    for (const limit of KEY_LIMIT_NAMES) expect(hrefsOf(limit)).toContain(`docs/limits#${limit}`);
  });

  it('has every operation and every field of a body', () => {
    for (const { name, summary, body } of allRoutes.filter(({ tag }) => tag !== undefined)) {
      expect(hrefsOf(summary)).toContain(`docs#${name}`);
      for (const field of Object.keys(body?.entries ?? {})) {
        expect(hrefsOf(field)).toContain(`docs#${name}.${field}`);
      }
    }
  });

  it('finds the part on the verification of access tokens by the word rotate', () => {
    const found = entries.filter(({ words }) => words.split(' ').includes('rotate'));
    expect(found.map(({ href }) => href)).toContain('docs/access-tokens#verification');
  });

  itForAll([
    'webhooks',
    'Idempotency-Key',
    'Postman',
    'Insomnia',
    'SMS',
    'status page',
    'contact',
    'changelog',
    'SDK',
    'support',
  ])('finds what there is not by the words that readers type', (typed) => {
    const words = typed.toLowerCase().split(' ');
    const found = entries.filter((entry) => {
      const text = `${entry.title} ${entry.page} ${entry.words}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    expect(found.map(({ page }) => page)).toContain('What there is not');
  });

  it('is at most 120 KB', async () => {
    expect(Buffer.byteLength((await readPage('search')).body)).toBeLessThanOrEqual(120 * 1024);
  });
});
