import { readFileSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };

const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');

const headings = [...changelog.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
const kinds = [...changelog.matchAll(/^### (.+)$/gm)].map(([, kind]) => kind);

describe('CHANGELOG.md', () => {
  test('begins with the unreleased entries and has the version of package.json next', () => {
    expect(headings[0]).toBe('[Unreleased]');
    expect(headings[1]).toContain(`[${packageJson.version}] - `);
  });

  test('has a version and a day for each release, and only the headings of Keep a Changelog', () => {
    for (const heading of headings.slice(1))
      expect(heading).toMatch(/^\[\d+\.\d+\.\d+\] - 20\d\d-\d\d-\d\d$/);
    const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
    expect(known).toEqual(expect.arrayContaining(kinds));
  });
});
