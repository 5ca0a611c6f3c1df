import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const folder = new URL('../../.github/workflows/', import.meta.url);

const actions = readdirSync(folder)
  .map((file) => readFileSync(new URL(file, folder), 'utf8'))
  .flatMap((text) => [...text.matchAll(/uses: (.+)$/gm)].map(([, action]) => action));

describe('the GitHub workflows', () => {
  test('pin every action by commit and name its release in a comment', () => {
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });
});
