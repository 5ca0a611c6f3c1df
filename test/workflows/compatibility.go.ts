/** The comparison of openapi.json with the last release, in a repository of its own. Skipped by name where Go is not installed. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { breakingChanges, canCompare, lastRelease } from '#openapi/compatibility.ts';
import openApiDocument from '../../openapi.json' with { type: 'json' };

/** Go downloads and builds oasdiff at the first run. */
const TIMEOUT_MS = 300_000;

// biome-ignore lint/suspicious/noExplicitAny: an edit reaches into the document as a person would.
type Edit = (document: any) => void;

let root: string;

const git = (...args: readonly string[]): void => {
  execFileSync('git', ['-C', root, '-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args]);
};

/** Writes the document with another version and edits. */
const write = (version: string, ...edits: readonly Edit[]): void => {
  const document = structuredClone(openApiDocument);
  for (const edit of edits) edit(document);
  const text = JSON.stringify({ ...document, info: { ...document.info, version } });
  writeFileSync(join(root, 'openapi.json'), text);
};

/** Commits the document as a release. */
const release = (tag: string, version: string, ...edits: readonly Edit[]): void => {
  write(version, ...edits);
  git('add', '.');
  git('commit', '--quiet', '--message', tag);
  git('tag', tag);
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'buyer-linking-compatibility-'));
  git('init', '--quiet', '--initial-branch', 'main');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const withoutCodes: Edit = ({ paths }) => delete paths['/v1/auth/otp/send'];

const suite = canCompare() ? describe : describe.skip;

suite(canCompare() ? 'a document' : 'a document (skipped: install Go)', () => {
  test(
    'must not break callers of the last release, and the message names each change',
    () => {
      release('v1.4.0', '1.0.0');
      write('1.0.1', withoutCodes, ({ paths: { '/v1/users': users }, components: { schemas } }) => {
        delete users.get.responses[200].headers.Link;
        users.get.operationId = 'users';
        users.get['x-required-scope'] = 'users:write';
        users.get.parameters.find(({ name }: { name: string }) => name === 'page_size').schema.default = 50;
        delete schemas.CreateUserBody.properties.phone;
        delete schemas.User.properties.created_at;
        schemas.CreateUserBody.properties.external_id.pattern = '^1';
      });
      const [message, ...others] = breakingChanges(root, 'v1.4.0');
      expect(others).toEqual([]);
      expect(message).toContain('openapi.json breaks callers of v1.4.0. Undo the change, or raise the major');
      expect(message).toContain('v1.4.0 has the scope of get /v1/users: users:read.');
      const found = [...String(message).matchAll(/^(?:error|warning)\s+\[([\w-]+)\]/gm)].map(([, id]) => id);
      expect(new Set(found)).toEqual(
        new Set([
          'api-path-removed-without-deprecation',
          'optional-response-header-removed',
          'api-operation-id-removed',
          'request-parameter-default-value-changed',
          'request-property-removed',
          'response-required-property-removed',
          'request-property-pattern-changed',
        ]),
      );
    },
    TIMEOUT_MS,
  );

  test(
    'may have other words, a new operation, field, parameter, bound and problem code',
    () => {
      release('v1.4.0', '1.0.0');
      write('1.1.0', ({ info, paths, components: { schemas } }) => {
        info.description = 'x';
        const users = paths['/v1/users'];
        paths['/v1/more'] = { get: { ...users.get, operationId: 'more' } };
        schemas.User.properties.note = { type: 'string' };
        schemas.CreateUserBody.properties.note = { type: 'string' };
        users.get.parameters.push({ in: 'query', name: 'sort', schema: { type: 'string' } });
        users.get.parameters.find(({ name }: { name: string }) => name === 'page_size').schema.maximum = 200;
        users.post.responses[409].content['application/problem+json'].schema = {
          oneOf: [{ $ref: '#/components/schemas/UserConflict' }, { title: 'New', type: 'object' }],
        };
      });
      expect(breakingChanges(root, 'v1.4.0')).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'of a higher major version may break all',
    () => {
      release('v1.4.0', '1.0.0');
      write('2.0.0', withoutCodes);
      expect(breakingChanges(root, 'v1.4.0')).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe('the last release', () => {
  test('is the highest version tag of the history of the present commit', () => {
    release('v1.9.0', '1.0.0');
    release('v1.10.0', '1.0.1');
    release('try-2', '1.0.2');
    git('switch', '--quiet', '--create', 'next');
    release('v2.0.0', '2.0.0');
    git('switch', '--quiet', 'main');
    expect(lastRelease(root)).toBe('v1.10.0');
  });

  test('is none before the first tag, and in a folder without history', () => {
    git('commit', '--quiet', '--allow-empty', '--message', 'First');
    expect(lastRelease(root)).toBeUndefined();
    rmSync(join(root, '.git'), { recursive: true });
    expect(lastRelease(root)).toBeUndefined();
  });
});
