import { handle } from '#functions/get-root.ts';
import { docsRoutes } from '#shared/docs/routes.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { callForText } from './docs-call.ts';

const handler = endpoint(docsRoutes['get-root'], () => undefined, handle);

describe('302', () => {
  it.each([
    ['the default endpoint', '/dev/', '/dev/docs'],
    ['the default endpoint without a slash', '/dev', '/dev/docs'],
    ['a domain', '/', '/docs'],
    ['a path that a browser would take for another host', '//example.com', '/example.com/docs'],
  ])('leads to /docs at %s', async (_what, sentPath, location) => {
    const { status, headers, body } = await callForText(handler, '/', null, {}, sentPath);
    expect([status, headers.Location, body]).toEqual([302, location, '']);
  });
});
