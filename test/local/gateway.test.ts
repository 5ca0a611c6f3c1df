import { useGateway, withKey } from './use-gateway.ts';

const { start, call, recorded } = useGateway();

describe('the event', () => {
  it('is a REST proxy event with every value of headers and query', async () => {
    await start();
    await call('/v1/users?page=1&page=2&q=a%20b&__proto__=x', {
      headers: { 'X-Api-Key': 'key', 'X-Two': 'b' },
    });
    expect(recorded().events[0]).toMatchObject({
      resource: '/v1/users',
      path: '/v1/users',
      httpMethod: 'GET',
      pathParameters: null,
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
      requestContext: {
        httpMethod: 'GET',
        path: '/v1/users',
        resourcePath: '/v1/users',
        identity: { sourceIp: '127.0.0.1' },
        authorizer: { sellerId: 'sel_1', count: '3', isGood: 'true', principalId: 'key_1' },
      },
    });
    expect(Object.entries(recorded().events[0]?.queryStringParameters ?? {})).toEqual([
      ['page', '2'],
      ['q', 'a b'],
      ['__proto__', 'x'],
    ]);
    expect(recorded().events[0]?.multiValueQueryStringParameters?.page).toEqual(['1', '2']);
    expect(recorded().events[0]?.headers['X-Two'] ?? recorded().events[0]?.headers['x-two']).toBe('b');
  });

  it('has null for a missing query and a missing body', async () => {
    await start();
    await call('/v1/users', withKey());
    expect(recorded().events[0]?.queryStringParameters).toBeNull();
    expect(recorded().events[0]?.multiValueQueryStringParameters).toBeNull();
    expect(recorded().events[0]?.body).toBeNull();
  });

  it('is a new object for each request', async () => {
    await start({
      handle: async (event) => {
        (event as { body: unknown }).body = 'changed';
        (event.requestContext.authorizer as Record<string, string>).sellerId = 'changed';
        return undefined;
      },
    });
    await call('/v1/users', withKey());
    await call('/v1/users', withKey());
    expect(recorded().events[1]?.requestContext.authorizer?.sellerId).toBe('sel_1');
  });
});

describe('onCompleted', () => {
  it('receives each request with its problem code and nothing that was sent', async () => {
    await start();
    await call('/v1/users?phone=09559876543', withKey());
    await call('/09559876543', withKey());
    expect(recorded().completed).toMatchObject([
      { method: 'GET', route: { name: 'list-users' }, status: 200, problem: undefined },
      { method: 'GET', route: undefined, status: 404, problem: { code: 'not_found' } },
    ]);
    expect(JSON.stringify(recorded().completed).includes('9559876543')).toBe(false);
  });
});
