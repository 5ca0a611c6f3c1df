import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { build, handle } from '#functions/get-docs.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { redirectLog } from '#shared/log.ts';
import { routes } from '#shared/routes.ts';
import { SMALL_SITE } from '#test/service/running-service.ts';

const ENVIRONMENT = {
  SITE_FOLDER: SMALL_SITE,
  BASE_URL: undefined,
  SUPPORT_EMAIL: undefined,
  STATUS_URL: undefined,
  BUYER_APP_URL: undefined,
};

interface Call {
  /** The path as it was sent. */
  readonly sent?: string;
  readonly domain?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string[]>>;
}

/** Calls the function as the gateway of the stage `dev` does. */
const call = async ({
  sent = '/dev/docs',
  domain = 'abc.execute-api.eu-central-1.amazonaws.com',
  headers = {},
  environment = {},
  query,
}: Call) => {
  for (const [name, value] of Object.entries({ ...ENVIRONMENT, ...environment })) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  const event = {
    httpMethod: 'GET',
    path: sent.replace(/^\/dev/, '') || '/',
    headers,
    multiValueQueryStringParameters: query ?? null,
    pathParameters: null,
    body: null,
    requestContext: { path: sent, stage: 'dev', domainName: domain, extendedRequestId: 'req-1' },
  } as unknown as APIGatewayProxyEvent;
  const context = { getRemainingTimeInMillis: () => 10_000 } as unknown as Context;
  const restoreLog = redirectLog(() => {});
  const handler = endpoint(routes['get-docs'], build, handle);
  const {
    statusCode: status,
    headers: answered = {},
    body,
  } = await handler(event, context).finally(restoreLog);
  return { status, headers: answered as Readonly<Record<string, string>>, body };
};

describe('200', () => {
  it.each(['/dev/docs', '/dev/docs/'])(
    'returns the first page at %s, with the links of the stage',
    async (sent) => {
      const { status, headers, body } = await call({ sent });
      expect([status, headers['Content-Type'], headers['Cache-Control']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-cache',
      ]);
      expect(body).toContain('href="/dev/docs/quick-start"');
      expect(body).not.toContain('__');
    },
  );

  it.each(['/dev/docs', '/dev/docs/quick-start', '/dev/'])(
    'ignores a query at %s, which links in mails get',
    async (sent) => {
      const query = { utm_source: ['mail', 'again'] };
      expect(await call({ sent, query })).toEqual(await call({ sent }));
      expect((await call({ sent, query })).status).toBe(sent === '/dev/' ? 302 : 200);
    },
  );

  it('allows scripts of the service and the two of the build alone, and nothing from another origin', async () => {
    const { headers } = await call({});
    // A link to another site tells it no path, and so no id that is in one.
    expect(headers['Referrer-Policy']).toBe('same-origin');
    expect(headers['Content-Security-Policy']).toBe(
      "default-src 'none'; script-src 'self' 'sha256-a' 'sha256-b'; style-src 'self' 'unsafe-inline'; " +
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  it.each([
    ['/dev/docs/fa/quick-start', 'text/html; charset=utf-8', 'no-cache'],
    ['/dev/docs/quick-start.md', 'text/markdown; charset=utf-8', 'no-cache'],
    [
      '/dev/docs/assets/app.a1b2c3.js',
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ],
    // The router reads it after a deploy that happened while a page was open.
    ['/dev/docs/hashmap.json', 'application/json', 'no-cache'],
    ['/dev/docs/assets/style.a1b2c3.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
  ])('returns %s with its type and its cache', async (sent, type, cache) => {
    const { status, headers } = await call({ sent });
    expect([status, headers['Content-Type'], headers['Cache-Control']]).toEqual([200, type, cache]);
    expect(headers['X-Content-Type-Options']).toBe('nosniff');
  });

  it.each<[string, Call, string]>([
    [
      'of the default endpoint',
      { sent: '/dev/docs/quick-start' },
      'https://abc.execute-api.eu-central-1.amazonaws.com/dev',
    ],
    ['of a domain', { sent: '/docs/quick-start', domain: 'api.example.com' }, 'https://api.example.com'],
    [
      'of the configured base URL',
      { sent: '/docs/quick-start', environment: { BASE_URL: 'http://localhost:3000' } },
      'http://localhost:3000',
    ],
  ])('names the address %s in samples', async (_what, request, address) => {
    expect((await call(request)).body).toContain(`curl ${address}/v1/users`);
  });

  it('never names the address of the Host header, which a caller chooses', async () => {
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' };
    for (const sent of ['/dev/docs/quick-start', '/dev/docs/assets/app.a1b2c3.js'])
      expect((await call({ sent, headers })).body).not.toContain('evil.example');
  });

  it('names whom to ask on this stage, as text of an attribute', async () => {
    const environment = {
      SUPPORT_EMAIL: 'api@example.com',
      STATUS_URL: 'https://status.example/?a=1&b="2"',
      BUYER_APP_URL: 'https://buyers.example',
    };
    const { body } = await call({ environment });
    expect(body).toContain('content="https://buyers.example"');
    expect((await call({})).body).toContain('name="buyer-app-url" content=""');
    expect(body).toContain('content="api@example.com"');
    expect(body).toContain('content="https://status.example/?a=1&#38;b=&#34;2&#34;"');
  });
});

describe('302', () => {
  it.each([
    ['/dev/', '/dev/docs'],
    ['/dev', '/dev/docs'],
    ['/', '/docs'],
    ['/dev/docs/quick-start/', '/dev/docs/quick-start'],
    ['/docs/fa/quick-start//', '/docs/fa/quick-start'],
    ['/dev/docs/fa', '/dev/docs/fa/quick-start'],
    ['/docs/fa/', '/docs/fa/quick-start'],
    ['/dev/docs/operations', '/dev/docs/operations/create-user'],
  ])('leads from %s to %s', async (sent, location) => {
    const { status, headers } = await call({ sent });
    expect([status, headers.Location]).toEqual([302, location]);
  });
});

describe('404', () => {
  const UNKNOWN = [
    '/dev/docs/unknown',
    '/dev/docs/build.json',
    '/dev/docs/../package.json',
    '/dev/docs/assets',
    '/dev/docs/__proto__',
    '/dev/docs/%2e%2e/quick-start',
    '//example.com/',
  ];

  it.each(UNKNOWN)('returns a problem at %s, which no cache stores', async (sent) => {
    const { status, headers, body } = await call({ sent });
    expect([status, headers['Content-Type'], headers['Cache-Control']]).toEqual([
      404,
      'application/problem+json',
      'no-store',
    ]);
    expect(JSON.parse(body).code).toBe('not_found');
  });

  it('returns a page for a browser, which no cache stores', async () => {
    const { status, headers, body } = await call({
      sent: '/dev/docs/unknown',
      headers: { Accept: 'text/html' },
    });
    expect([status, headers['Content-Type'], headers['Cache-Control'], headers.Vary]).toEqual([
      404,
      'text/html; charset=utf-8',
      'no-store',
      'Accept',
    ]);
    expect(body).toContain('href="/dev/docs/"');
  });
});
