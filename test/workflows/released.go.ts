/** The comparison with the released documents, by oasdiff. Skipped by name where Go is not installed. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canCompare, release, releaseProblems } from '#reference/openapi/released.ts';
import openApiDocument from '../../openapi.json' with { type: 'json' };

/** Go downloads and builds oasdiff at the first run. */
const TIMEOUT_MS = 300_000;

// biome-ignore lint/suspicious/noExplicitAny: an edit reaches into the document as a person would.
type Edit = (document: any) => void;

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'buyer-linking-released-'));
  folder = join(root, 'released');
  mkdirSync(folder);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Writes the document with another version and edits. */
const write = (file: string, version: string, ...edits: readonly Edit[]): string => {
  const document = structuredClone(openApiDocument);
  for (const edit of edits) edit(document);
  writeFileSync(file, JSON.stringify({ ...document, info: { ...document.info, version } }));
  return file;
};

const releaseOf = (version: string, ...edits: readonly Edit[]): string =>
  write(join(folder, `${version.slice(0, -2)}.json`), version, ...edits);

const candidateOf = (version: string, isInUse: boolean, ...edits: readonly Edit[]) => ({
  file: write(join(root, 'openapi.json'), version, ...edits),
  folder,
  isInUse,
});

const withoutCodes: Edit = ({ paths }) => delete paths['/v1/auth/otp/send'];

const suite = canCompare() ? describe : describe.skip;

suite(canCompare() ? 'a document' : 'a document (skipped: install Go)', () => {
  test(
    'must not break callers of a released version, and the message names each change',
    () => {
      releaseOf('1.0.0');
      const [message, ...others] = releaseProblems(
        candidateOf(
          '1.0.1',
          true,
          withoutCodes,
          ({ paths: { '/v1/users': users }, components: { schemas } }) => {
            delete users.get.responses[200].headers.Link;
            users.get.operationId = 'users';
            users.get.parameters.find(({ name }: { name: string }) => name === 'page_size').schema.default =
              50;
            delete schemas.CreateUserBody.properties.phone;
            delete schemas.User.properties.created_at;
            schemas.VerifyOtpBody.properties.code.pattern = '^1';
          },
        ),
      );
      expect(others).toEqual([]);
      expect(message).toContain('raise the major number of info.version');
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
      releaseOf('1.0.0');
      const candidate = candidateOf('1.1.0', true, ({ info, paths, components: { schemas } }) => {
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
      expect(releaseProblems(candidate)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'of a version that nobody uses is compared too, and may replace the released one, but breaks no older version',
    () => {
      const released = releaseOf('1.1.0');
      const candidate = candidateOf('1.1.0', false, withoutCodes);
      expect(releaseProblems(candidate)).toEqual([expect.stringContaining('npm run openapi -- --release')]);
      expect(release(candidate)).toEqual([]);
      expect(readFileSync(released, 'utf8')).toBe(readFileSync(candidate.file, 'utf8'));
      releaseOf('1.0.0');
      expect(release(candidate)).toEqual([expect.stringContaining('raise the major number')]);
    },
    TIMEOUT_MS,
  );

  test(
    'of a version in use replaces the released one only if it breaks no caller; a higher major version may break all',
    () => {
      const released = releaseOf('1.0.0');
      expect(release(candidateOf('1.0.1', true, withoutCodes))).toHaveLength(1);
      expect(JSON.parse(readFileSync(released, 'utf8')).info.version).toBe('1.0.0');
      expect(release(candidateOf('1.0.1', true))).toEqual([]);
      expect(JSON.parse(readFileSync(released, 'utf8')).info.version).toBe('1.0.1');
      expect(releaseProblems(candidateOf('2.0.0', true, withoutCodes))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
