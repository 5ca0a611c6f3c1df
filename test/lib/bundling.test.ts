import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NAMED_ERRORS } from '#lib/bundle-plugins.ts';
import { type Bundles, bundleFunctions, functionFiles } from '#lib/bundling.ts';
import { allRoutes } from '#shared/routes.ts';

/** The most that a bundle may weigh, in bytes of minified JavaScript. The whole file is read and compiled at every cold start. */
const BUDGET_BYTES = 250_000;

let folder: string;
let bundles: Bundles;

const codeOf = (name: string): Promise<string> => readFile(join(bundles.folderOf(name), 'index.mjs'), 'utf8');

/** The sources that a bundle was made of, from its map. */
const sourcesOf = async (name: string): Promise<string> => {
  const map = JSON.parse(await readFile(join(folder, 'maps', `${name}.mjs.map`), 'utf8')) as {
    sources: string[];
  };
  return map.sources.join('\n');
};

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bundles-'));
  bundles = await bundleFunctions({ outDir: folder });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const names = [...allRoutes.map(({ name }) => name), 'authorizer', 'canary'];

describe('the bundles', () => {
  test('are one a row, the authorizer and the canary', async () => {
    expect(Object.keys(bundles.sizes).sort()).toEqual([...names].sort());
    expect(Object.keys(await functionFiles()).sort()).toEqual([...names].sort());
  });

  test.each(names)(`%s weighs no more than ${BUDGET_BYTES / 1000} KB`, (name) => {
    expect(bundles.sizes[name]).toBeGreaterThan(0);
    expect(bundles.sizes[name]).toBeLessThanOrEqual(BUDGET_BYTES);
  });

  test('hold nothing but code, and the files that a row needs', async () => {
    for (const { name, permissions } of allRoutes) {
      const expected = ['index.mjs', ...Object.keys(permissions.files ?? {})];
      expect((await readdir(bundles.folderOf(name))).sort()).toEqual(expected.sort());
    }
  });

  test('are the same bytes wherever and whenever they are made', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'buyer-linking-again-'));
    const again = await bundleFunctions({ outDir: elsewhere });
    for (const name of names) {
      const second = await readFile(join(again.folderOf(name), 'index.mjs'), 'utf8');
      expect(digestOf(second)).toBe(digestOf(await codeOf(name)));
    }
    await rm(elsewhere, { recursive: true });
  });

  test('hold no path of the machine that made them', async () => {
    for (const name of names) {
      expect(await codeOf(name)).not.toContain(process.cwd());
      expect(await sourcesOf(name)).not.toContain(process.cwd());
    }
  });
});

describe('what a bundle is made of', () => {
  test.each(['get-jwks', 'get-openapi', 'get-docs', 'get-docs-asset'])(
    '%s holds no DynamoDB and no secrets client',
    async (name) => {
      expect(await sourcesOf(name)).not.toMatch(/client-dynamodb|lib-dynamodb|client-secrets-manager/);
    },
  );

  test.each(['list-users', 'create-user', 'send-otp', 'authorizer'])(
    '%s holds no KMS client',
    async (name) => {
      expect(await sourcesOf(name)).not.toContain('client-kms');
    },
  );

  test('no bundle holds the administration, the local service or a test', async () => {
    for (const name of names) {
      expect(await sourcesOf(name)).not.toMatch(
        /^admin\/|client-api-gateway|(?:^|\/)local\/|(?:^|\/)test\//m,
      );
    }
  });

  test('no bundle imports node:http by name: its namespace alone costs 30 ms', async () => {
    for (const name of names) expect(await codeOf(name)).not.toMatch(/from\s*["'](?:node:)?https?["']/);
  });

  test('no bundle holds the chain of credential providers', async () => {
    for (const name of names) {
      expect(await sourcesOf(name)).not.toMatch(/credential-provider-(?:sso|ini|process|web-identity|imds)/);
    }
  });

  test('every error of the SDK that our code tells apart by class is kept', async () => {
    const sources = await Promise.all(
      (await readdir('shared', { recursive: true }))
        .filter((file) => file.endsWith('.ts') && !file.startsWith('usage-plans'))
        .map((file) => readFile(join('shared', file), 'utf8')),
    );
    const told = sources.flatMap((source) =>
      [...source.matchAll(/instanceof (\w+Exception)\b/g)].map(([, name]) => name),
    );
    expect(new Set(told)).toEqual(new Set(NAMED_ERRORS));
  });
});

describe('a bundle as Lambda runs it', () => {
  const runs = promisify(execFile);
  const ENVIRONMENT = {
    AWS_LAMBDA_FUNCTION_NAME: 'function',
    AWS_REGION: 'us-east-1',
    TABLE_NAME: 'table',
    HASH_SECRET: 'secret',
    PROVIDER_SECRET: 'secret',
    IDENTITY_PROVIDERS: 'jibit',
    SMS_PROVIDERS: 'kavenegar',
    SIGNING_KEYS: 'key',
    TOKEN_ISSUER: 'https://issuer',
    KEY_PREFIX: 'blk_test_',
    OTP_ACCESS: 'api-key',
  };

  test.each(names)(
    '%s loads in a fresh process, its clients included, and exports its handler',
    async (name) => {
      const file = JSON.stringify(join(bundles.folderOf(name), 'index.mjs'));
      const { stdout } = await runs(
        process.execPath,
        ['--input-type=module', '-e', `console.log(typeof (await import(${file})).handler)`],
        { env: ENVIRONMENT },
      );
      expect(stdout.trim()).toBe('function');
    },
  );

  test('an error of the table that no code names keeps its name, so that the SDK still tries again', async () => {
    const attempts: string[] = [];
    const server = createServer((request, response) => {
      const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
      const isFirst = !attempts.includes(operation);
      attempts.push(operation);
      const answer = isFirst
        ? {
            __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
            message: 'slow down',
          }
        : ANSWERS[operation];
      response.writeHead(isFirst ? 400 : 200, { 'Content-Type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(answer));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const file = JSON.stringify(join(bundles.folderOf('list-users'), 'index.mjs'));
    const { stdout } = await runs(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { handler } = await import(${file});
         const { statusCode } = await handler(${JSON.stringify(EVENT)}, { getRemainingTimeInMillis: () => 10000 });
         console.log(statusCode);`,
      ],
      {
        env: {
          ...ENVIRONMENT,
          AWS_ACCESS_KEY_ID: 'test',
          AWS_SECRET_ACCESS_KEY: 'test',
          DYNAMODB_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        },
      },
    );
    server.close();
    server.closeAllConnections();
    expect(stdout.trim().split('\n').at(-1)).toBe('200');
    expect(attempts.sort()).toEqual(['GetItem', 'GetItem', 'Query', 'Query', 'UpdateItem', 'UpdateItem']);
  });
});

/** What an empty table answers to GET /v1/users. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  GetItem: { Item: { pk: { S: 'SELLER#sel_test' }, sk: { S: 'SELLER' }, user_count: { N: '0' } } },
  Query: { Items: [], Count: 0 },
  UpdateItem: { Attributes: { count: { N: '1' } } },
};

const EVENT = {
  httpMethod: 'GET',
  path: '/v1/users',
  headers: {},
  body: null,
  requestContext: {
    requestId: 'request',
    authorizer: {
      sellerId: 'sel_test',
      keyId: 'key_test',
      plan: 'free',
      scopes: 'users:read',
      expiresAt: '',
    },
  },
};
