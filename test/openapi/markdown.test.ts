import { buildDocument } from '#openapi/document.ts';
import { markdown } from '#openapi/markdown.ts';
import { INPUT_ERROR_CODES, PROBLEMS, REASONS } from '#shared/problems.ts';
import { KEY_LIMIT_NAMES } from '#shared/rate-limits/key-limits.ts';
import { SCOPES } from '#shared/scopes.ts';
import { itForAll } from '#test/for-all.ts';

interface Found {
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

/** Every description and summary of the document, and the names of its fields and parameters. */
const foundIn = (node: unknown): Found => {
  if (typeof node !== 'object' || node === null) return { texts: [], names: [] };
  const own = Object.entries(node).flatMap(([key, value]) =>
    ['description', 'summary'].includes(key) && typeof value === 'string' ? [value] : [],
  );
  const { properties, name, in: location } = node as Record<string, unknown>;
  const below = Object.values(node).map(foundIn);
  return {
    texts: [...own, ...below.flatMap(({ texts }) => texts)],
    names: [
      ...(location === undefined ? [] : [String(name)]),
      ...(typeof properties === 'object' ? Object.keys(properties as object) : []),
      ...below.flatMap(({ names }) => names),
    ],
  };
};

describe('the descriptions of the document', () => {
  const { texts, names } = foundIn(buildDocument());
  const reasons = Object.values(REASONS).flatMap((words) => Object.keys(words));
  /** A word such as `phone` is a word of English too. */
  const known = [...names, ...Object.keys(PROBLEMS), ...reasons].filter((name) => /[_-]/.test(name));
  const all = [
    ...new Set([...known, ...SCOPES, ...KEY_LIMIT_NAMES, 'user.linked', 'X-Api-Key', 'Retry-After']),
  ];

  it('are many, and so are the names', () => {
    expect([texts.length > 100, all.length > 50]).toEqual([true, true]);
    expect(all).toEqual(
      expect.arrayContaining(['national_id', 'user_conflict', 'phone_locked', 'users:read']),
    );
  });

  itForAll([...new Set(texts)])('have field names and codes in backticks', (text) => {
    const words = text.replace(/`[^`]*`/g, '').match(/[A-Za-z][\w:.-]*\w/g) ?? [];
    expect(words.filter((word) => all.includes(word))).toEqual([]);
  });

  itForAll([...new Set(texts)])('have each backtick with its other one, in one line', (text) => {
    expect(
      text.split('\n').filter((line) => line.split('`').length % 2 === 0 && !line.includes('```')),
    ).toEqual([]);
  });

  it('keep the codes of errors in the input in backticks', () => {
    expect(INPUT_ERROR_CODES.filter((code) => !texts.some((text) => text.includes(`\`${code}\``)))).toEqual(
      [],
    );
  });
});

describe('markdown', () => {
  itForAll([
    ['POST /v1/users/{id}/checks changes it.', '`POST /v1/users/{id}/checks` changes it.'],
    ['GET /v1/users?external_id=, or another.', '`GET /v1/users?external_id=`, or another.'],
    ['After `after`, has_more is true.', 'After `after`, `has_more` is true.'],
    ['"errors" names each one.', '`errors` names each one.'],
    ['users:read, users:write.', '`users:read`, `users:write`.'],
    [
      'Persian and Arabic-Indic digits of a one-time code.',
      'Persian and Arabic-Indic digits of a one-time code.',
    ],
    ['`national_id`', '`national_id`'],
  ])('puts requests, headers, scopes, fields and codes in backticks, once', (text, expected) => {
    expect(markdown(text)).toBe(expected);
    expect(markdown(expected)).toBe(expected);
  });
});
