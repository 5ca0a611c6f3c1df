import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePages } from '#reference/pages/write-pages.ts';
import { DOCS_FILE_NAMES, type DocsFile, isText, storedName } from '#shared/docs/files.ts';
import { DEPLOYED_SITE, LOCAL_SITE } from './sites.ts';

let folder: string;
const bodies = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-site-'));
  for (const [name, site, files] of [
    ['local', LOCAL_SITE, DOCS_FILE_NAMES.filter((file) => !isText(file) || file === 'quick-start.md')],
    // Without the types of the client, which take seconds.
    ['deployed', DEPLOYED_SITE, DOCS_FILE_NAMES.filter((file) => !file.endsWith('.d.mts'))],
  ] as const) {
    await writePages(join(folder, name), site, files);
    for (const file of files) {
      const text = await readFile(join(folder, name, storedName(file)), 'utf8');
      bodies.set(`${name}/${file}`, (JSON.parse(text) as DocsFile).body);
    }
  }
});

afterAll(() => rm(folder, { recursive: true }));

const OWN_TO_LOCAL = /\.local\/|node -p|<blockquote>| data-local/;

describe('the files of a deployment', () => {
  it('read nothing of a clone, and need no Node to take a value out of JSON', () => {
    const found = DOCS_FILE_NAMES.filter((name) => OWN_TO_LOCAL.test(bodies.get(`deployed/${name}`) ?? ''));
    // The changelog tells operators of the folder.
    expect(found.filter((name) => !name.startsWith('changelog'))).toEqual([]);
  });

  it('name in the foot of each page whom to ask and where the state of the service stands', () => {
    const pages = DOCS_FILE_NAMES.filter((name) => !isText(name) && name !== 'llms.txt');
    const without = pages.filter(
      (name) =>
        !/<footer>.*"mailto:api@example\.com".*"https:\/\/status\.example\.com"/.test(
          bodies.get(`deployed/${name}`) ?? '',
        ),
    );
    expect(without).toEqual([]);
  });
});

describe('the files of the local service', () => {
  it('show the demo in their boxes, and name nobody to ask', () => {
    expect(bodies.get('local/quick-start')).toMatch(/<blockquote>[\s\S]*data-demo="keys\.free"/);
    expect(bodies.get('local/quick-start.md')).toContain('.local/demo.json');
    expect(
      [...bodies].filter(([name, body]) => name.startsWith('local/') && body.includes('<footer>')),
    ).toEqual([]);
  });
});
