import { readFileSync } from 'node:fs';
import { DOCS_PAGE_FILES } from '#shared/docs-page/files.ts';

const installed = JSON.parse(
  readFileSync(new URL('../../../node_modules/swagger-ui-dist/package.json', import.meta.url), 'utf8'),
) as { version: string };

describe('the names of the files that browsers keep for ever', () => {
  it('hold the version that is installed', () => {
    const kept = Object.keys(DOCS_PAGE_FILES).filter((name) => /\.(?:js|css)$/.test(name));
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.filter((name) => !name.includes(`-${installed.version}.`))).toEqual([]);
  });
});
