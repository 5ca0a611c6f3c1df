import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Bundles, bundleFunctions } from '#lib/bundling.ts';
import { addSite, builtSite } from '#lib/site.ts';
import { allFunctions } from '#shared/routes.ts';

let folder: string;
let bundles: Bundles;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bundles-'));
  bundles = await bundleFunctions({ outDir: folder });
  addSite(await builtSite(console.log), bundles.folderOf('get-docs'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const names = [...allFunctions.map(({ name }) => name), 'canary', 'deploy-check'];

/** The responses of an empty table to GET /v1/users. */
const RESPONSES: Readonly<Record<string, unknown>> = {
  BatchGetItem: { Responses: { table: [] }, UnprocessedKeys: {} },
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

describe('a bundle in a new process', () => {
  const run = promisify(execFile);
  const ENVIRONMENT = {
    AWS_LAMBDA_FUNCTION_NAME: 'function',
    AWS_REGION: 'us-east-1',
    TABLE_NAME: 'table',
    HASH_SECRET: 'secret',
    PROVIDER_SECRET: 'secret',
    IDENTITY_PROVIDERS: 'jibit',
    SMS_PROVIDERS: 'kavenegar',
    SIGNING_KEYS: 'key',
    TOKEN_ISSUERS: 'https://issuer',
    KEY_PREFIX: 'blk_test_',
    OTP_ACCESS: 'api-key',
    RELEASE_VERSION: '1.2.3',
    RELEASE_COMMIT: '0123456789ab',
  };

  test('loads and exports its handler', async () => {
    const files = names.map((name) => join(bundles.folderOf(name), 'index.mjs'));
    const load = `for (const file of ${JSON.stringify(files)}) console.log(typeof (await import(file)).handler)`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', load], { env: ENVIRONMENT });
    expect(stdout.trim().split('\n')).toEqual(names.map(() => 'function'));
  });

  test('get-docs returns a page from beside its code', async () => {
    const file = JSON.stringify(join(bundles.folderOf('get-docs'), 'index.mjs'));
    const requestContext = {
      ...EVENT.requestContext,
      path: '/dev/docs/limits',
      stage: 'dev',
      domainName: 'a.example',
    };
    const event = JSON.stringify({ ...EVENT, path: '/docs/limits', requestContext });
    const load = `const { handler } = await import(${file});
      const result = await handler(${event}, { getRemainingTimeInMillis: () => 10000 });
      console.log(JSON.stringify(result));`;
    const options = { env: ENVIRONMENT, cwd: tmpdir() };
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', load], options);
    const { statusCode, headers, body } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect([statusCode, headers['Content-Type']]).toEqual([200, 'text/html; charset=utf-8']);
    // Two inline scripts of VitePress, whatever the page.
    expect(headers['Content-Security-Policy'].match(/'sha256-/g)).toHaveLength(2);
    expect(body).toMatch(/^<!DOCTYPE html>[\s\S]*<\/html>/i);
    expect(body).toContain('"/dev/docs/quick-start"');
  });

  test('list-users retries a throttled call', async () => {
    const attempts: string[] = [];
    const server = createServer((request, response) => {
      const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
      // Not the limiter's write: on a busy machine its second attempt may come after the limiter's timeout.
      const isThrottled = operation !== 'UpdateItem' && !attempts.includes(operation);
      attempts.push(operation);
      const reply = isThrottled
        ? {
            __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
            message: 'slow down',
          }
        : RESPONSES[operation];
      response.writeHead(isThrottled ? 400 : 200, { 'Content-Type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(reply));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const file = JSON.stringify(join(bundles.folderOf('list-users'), 'index.mjs'));
    const { stdout } = await run(
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
    // The limiter's write may time out on a busy machine before it is sent.
    const reads = attempts.filter((operation) => operation !== 'UpdateItem');
    expect(reads.sort()).toEqual(['BatchGetItem', 'BatchGetItem', 'Query', 'Query']);
  });

  test('deploy-check invokes the versions of its environment, and its log names what it could not check', async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      const target = request.headers['x-amz-target'];
      requests.push(String(target ?? request.url));
      // Secrets Manager answers so for a secret without a value.
      if (target) response.writeHead(400, { 'x-amzn-ErrorType': 'ResourceNotFoundException' }).end('{}');
      else response.end('{"statusCode":200}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const file = JSON.stringify(join(bundles.folderOf('deploy-check'), 'index.mjs'));
    const load = `await (await import(${file})).handler();`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', load], {
      env: {
        ...ENVIRONMENT,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        VERSIONS: '{"get-jwks":"get-jwks-function:7"}',
        AUTHORIZER_IN_SERVICE: 'authorizer-function:live',
        CANARY_KEY: 'canary-key',
      },
    });
    server.close();
    server.closeAllConnections();
    expect(requests.sort()).toEqual([
      '/2015-03-31/functions/get-jwks-function%3A7/invocations',
      'secretsmanager.GetSecretValue',
    ]);
    expect(JSON.parse(stdout)).toEqual({
      level: 'WARN',
      event: 'version_not_checked',
      text: 'authorizer: no key of the canary is stored',
    });
  });
});
