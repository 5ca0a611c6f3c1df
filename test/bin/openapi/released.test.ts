import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document } from '#bin/openapi/breaking-changes.ts';
import { buildDocument } from '#bin/openapi/document.ts';
import { release, releaseProblems } from '#bin/openapi/released.ts';

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
    expect(release(documentOf('1.4.2'), folder)).toEqual([]);
    expect(readdirSync(folder)).toEqual(['1.4.json']);
    expect(JSON.parse(readFileSync(join(folder, '1.4.json'), 'utf8'))).toEqual(documentOf('1.4.2'));
  });

  it('replaces the document of the same minor version if it breaks no caller', () => {
    release(documentOf('1.0.0', CODES), folder);
    expect(release(documentOf('1.0.1'), folder)).toEqual([]);
    expect(JSON.parse(readFileSync(join(folder, '1.0.json'), 'utf8'))).toEqual(documentOf('1.0.1'));
  });

  it('refuses to replace a document whose callers it would break', () => {
    release(documentOf('1.0.0'), folder);
    expect(release(documentOf('1.0.1', CODES), folder)).toEqual([
      expect.stringContaining(`POST ${CODES} was removed`),
    ]);
    expect(JSON.parse(readFileSync(join(folder, '1.0.json'), 'utf8'))).toEqual(documentOf('1.0.0'));
  });
});

describe('the comparison with released versions', () => {
  it('reports each version that the document breaks', () => {
    release(documentOf('1.0.0'), folder);
    release(documentOf('1.1.0'), folder);
    expect(releaseProblems(documentOf('1.2.0', CODES), folder)).toEqual([
      expect.stringContaining('the released version 1.0.'),
      expect.stringContaining('the released version 1.1.'),
    ]);
  });

  it('reports only the versions that have what the document removes', () => {
    release(documentOf('1.0.0', CODES), folder);
    release(documentOf('1.1.0'), folder);
    expect(releaseProblems(documentOf('1.2.0', CODES), folder)).toEqual([
      expect.stringContaining('the released version 1.1.'),
    ]);
  });

  it('permits a breaking change in a higher major version', () => {
    release(documentOf('1.0.0'), folder);
    expect(releaseProblems(documentOf('2.0.0', CODES), folder)).toEqual([]);
  });

  it('reports a folder without released documents', () => {
    expect(releaseProblems(documentOf('1.0.0'), folder)).toEqual([
      expect.stringContaining('holds no released document'),
    ]);
  });
});
