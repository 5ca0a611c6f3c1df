import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document } from '#reference/openapi/breaking-changes.ts';
import { buildDocument } from '#reference/openapi/document.ts';
import { release, releaseProblems } from '#reference/openapi/released.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'buyer-linking-released-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The document with another version, and without the operations on some paths. */
const documentOf = (version: string, ...removedPaths: readonly string[]): Document => {
  const document = JSON.parse(JSON.stringify(buildDocument()));
  const paths = Object.entries(document.paths).filter(([path]) => !removedPaths.includes(path));
  return { ...document, info: { ...document.info, version }, paths: Object.fromEntries(paths) };
};

const CODES = '/v1/auth/otp/send';

describe('a release', () => {
  it('writes the document under its major and minor number', () => {
    expect(release(documentOf('1.4.2'), folder, true)).toEqual([]);
    expect(readdirSync(folder)).toEqual(['1.4.json']);
    expect(JSON.parse(readFileSync(join(folder, '1.4.json'), 'utf8'))).toEqual(documentOf('1.4.2'));
  });

  it('replaces the document of the same minor version if it breaks no caller', () => {
    release(documentOf('1.0.0', CODES), folder, true);
    expect(release(documentOf('1.0.1'), folder, true)).toEqual([]);
    expect(JSON.parse(readFileSync(join(folder, '1.0.json'), 'utf8'))).toEqual(documentOf('1.0.1'));
  });

  it('refuses to replace a document whose callers it would break', () => {
    release(documentOf('1.0.0'), folder, true);
    expect(release(documentOf('1.0.1', CODES), folder, true)).toEqual([
      expect.stringContaining(`POST ${CODES} was removed`),
    ]);
    expect(JSON.parse(readFileSync(join(folder, '1.0.json'), 'utf8'))).toEqual(documentOf('1.0.0'));
  });
});

describe('a minor version that nobody uses yet', () => {
  it('can be replaced by a document that would break its callers', () => {
    release(documentOf('1.0.0'), folder, false);
    expect(release(documentOf('1.0.0', CODES), folder, false)).toEqual([]);
    expect(JSON.parse(readFileSync(join(folder, '1.0.json'), 'utf8'))).toEqual(documentOf('1.0.0', CODES));
  });

  it('fails the comparison until it is replaced, so that a change of it is a decision', () => {
    release(documentOf('1.0.0'), folder, false);
    expect(releaseProblems(documentOf('1.0.0', CODES), folder, false)).toEqual([
      expect.stringContaining('replace its document with `npm run openapi -- --release`'),
    ]);
  });

  it('cannot break the callers of an older one', () => {
    release(documentOf('1.0.0'), folder, true);
    const broken = expect.stringContaining('raise the major number of info.version');
    expect(releaseProblems(documentOf('1.1.0', CODES), folder, false)).toEqual([broken]);
    expect(release(documentOf('1.1.0', CODES), folder, false)).toEqual([broken]);
  });
});

describe('the comparison with released versions', () => {
  it('reports each version that the document breaks', () => {
    release(documentOf('1.0.0'), folder, true);
    release(documentOf('1.1.0'), folder, true);
    expect(releaseProblems(documentOf('1.2.0', CODES), folder, true)).toEqual([
      expect.stringContaining('the released version 1.0.'),
      expect.stringContaining('the released version 1.1.'),
    ]);
  });

  it('reports only the versions that have what the document removes', () => {
    release(documentOf('1.0.0', CODES), folder, true);
    release(documentOf('1.1.0'), folder, true);
    expect(releaseProblems(documentOf('1.2.0', CODES), folder, true)).toEqual([
      expect.stringContaining('the released version 1.1.'),
    ]);
  });

  it('permits a breaking change in a higher major version', () => {
    release(documentOf('1.0.0'), folder, true);
    expect(releaseProblems(documentOf('2.0.0', CODES), folder, true)).toEqual([]);
  });

  it('reports a folder without released documents', () => {
    expect(releaseProblems(documentOf('1.0.0'), folder, true)).toEqual([
      expect.stringContaining('holds no released document'),
    ]);
  });
});
