import { build, handle } from '#functions/get-openapi.ts';
import { buildDocument } from '#openapi/document.ts';
import { routes } from '#shared/routes.ts';
import { functionUnderTest } from './harness.ts';

const getOpenapi = () =>
  functionUnderTest(routes['get-openapi'], handle, undefined as never, { document: buildDocument() });

describe('200', () => {
  it('returns the whole document without a key and forbids caching', async () => {
    const { status, json, headers } = await getOpenapi().call({ authorizer: null });
    expect([status, headers['Content-Type'], headers['Cache-Control']]).toEqual([
      200,
      'application/json',
      'no-store',
    ]);
    expect(json).toEqual(JSON.parse(JSON.stringify(buildDocument())));
  });

  it('names the version of the service and its commit beside the version of the interface', () => {
    const before = process.env;
    process.env = { ...before, RELEASE_VERSION: '4.5.6', RELEASE_COMMIT: '0123456789ab' };
    try {
      expect(build().document.info).toMatchObject({
        version: buildDocument().info.version,
        'x-service-version': '4.5.6',
        'x-commit': '0123456789ab',
      });
    } finally {
      process.env = before;
    }
  });
});

describe('info.contact', () => {
  const contactWith = (variables: Readonly<Record<string, string>>) => {
    const before = process.env;
    process.env = { ...before, RELEASE_VERSION: '4.5.6', RELEASE_COMMIT: '0123456789ab', ...variables };
    try {
      return JSON.parse(JSON.stringify(build().document.info)).contact;
    } finally {
      process.env = before;
    }
  };

  it('names whom to ask and where the state of the service stands, if the stage sets them', () => {
    const email = 'api@example.com';
    expect(contactWith({ SUPPORT_EMAIL: email, STATUS_URL: 'https://status.example.com' })).toEqual({
      email,
      url: 'https://status.example.com',
    });
    expect(contactWith({ SUPPORT_EMAIL: email })).toEqual({ email });
    expect(contactWith({})).toBeUndefined();
  });
});
