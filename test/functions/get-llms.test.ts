import { handle } from '#functions/get-llms.ts';
import { llmsFile } from '#reference/pages/text-files.ts';
import { DOCS_PATHS, MARKDOWN_NAMES } from '#shared/docs/files.ts';
import { docsRoutes } from '#shared/docs/routes.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { callForText } from './docs-call.ts';

const handler = endpoint(docsRoutes['get-llms'], () => ({ read: async () => llmsFile() }), handle);

describe('200', () => {
  it('lists the Markdown of every guide and the OpenAPI document as text, by links relative to it that are served', async () => {
    const { status, headers, body } = await callForText(handler, '/llms.txt');
    expect([status, headers['Content-Type']]).toEqual([200, 'text/plain; charset=utf-8']);
    const links = [...body.matchAll(/^- \[.+\]\((.+)\)/gm)].map(([, link]) => String(link));
    expect(links).toEqual(expect.arrayContaining(MARKDOWN_NAMES.map((name) => `docs/${name}`)));
    const served: readonly string[] = ['v1/openapi.json', ...DOCS_PATHS.map((path) => `docs/${path}`)];
    expect(links.filter((link) => !served.includes(link))).toEqual([]);
  });
});
