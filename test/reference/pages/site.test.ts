import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePages } from '#reference/pages/write-pages.ts';
import { DOCS_FILE_NAMES, type DocsFile, GUIDE_NAMES, isText, storedName } from '#shared/docs/files.ts';
import { itForAll } from '#test/for-all.ts';
import { DEPLOYED_SITE, LOCAL_SITE } from './sites.ts';

let folder: string;
const bodies = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-site-'));
  for (const [name, site, files] of [
    ['local', LOCAL_SITE, ['reference', 'quick-start', 'quick-start.md', 'fa/quick-start', 'key']],
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

  itForAll(GUIDE_NAMES)(
    'have samples with the address that the page replaces by its own, and no value of the demo',
    (name) => {
      const samples = [...(bodies.get(`deployed/${name}`) ?? '').matchAll(/<pre[^>]*>([\s\S]*?)<\/pre>/g)]
        .map(([, markup]) => String(markup).replaceAll(/<[^>]*>/g, ''))
        .join('\n')
        .replaceAll(/http:\/\/localhost:3000|https:\/\/…/g, '(address)');
      expect(samples.match(/localhost|^BUYER_LINKING_URL=http.*$/gm)).toBeNull();
      expect(samples.match(/^(?:BUYER_LINKING_API_KEY|SELLER_KEY)=(?!blk_…$).*$/gm)).toBeNull();
    },
  );

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
