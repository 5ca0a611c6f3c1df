import { readFileSync } from 'node:fs';
import { DOCS_PAGE_FILES } from '#shared/docs-page/files.ts';

const installed = JSON.parse(
  readFileSync(new URL('../../../node_modules/swagger-ui-dist/package.json', import.meta.url), 'utf8'),
) as { version: string };

describe('the files of the reference page', () => {
  it('have the installed version in their names', () => {
    const versioned = Object.keys(DOCS_PAGE_FILES).filter((name) => /\.(?:js|css)$/.test(name));
    expect(versioned.length).toBeGreaterThan(0);
    expect(versioned.filter((name) => !name.includes(`-${installed.version}.`))).toEqual([]);
  });
});
