import { randomIds } from '#admin/ids.ts';
import { countingIds } from '#test/fakes/ids.ts';

describe.each([
  ['randomIds', randomIds],
  ['countingIds', countingIds()],
] as const)('%s', (_name, ids) => {
  it.each(['sel', 'key'] as const)('makes ids of the form %s_ and 22 base62 characters', (prefix) => {
    expect(ids(prefix)).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{22}$`));
  });

  it('never makes the same id twice', () => {
    expect(new Set(Array.from({ length: 1000 }, () => ids('key'))).size).toBe(1000);
  });
});
