/** Compares two versions of a schema: in a request, what may be sent; in a response, what may be relied on. */

/** Any object in an OpenAPI document. */
export type Node = Readonly<Record<string, unknown>>;

/** Returns the child under `key`, or an empty node if there is none. */
export const child = (node: Node, key: string): Node => (node[key] ?? {}) as Node;

/** Compares the children of two nodes by their keys. Names each one that was removed, and compares those that both nodes have. */
export const compareChildren = (
  before: Node,
  after: Node,
  removed: (key: string) => string,
  compare: (before: Node, after: Node, key: string) => readonly string[],
): readonly string[] =>
  Object.keys(before).flatMap((key) =>
    key in after ? compare(child(before, key), child(after, key), key) : [removed(key)],
  );

type Compare = (before: Node, after: Node, at: string) => readonly string[];

const listOf = (node: Node, key: string): readonly unknown[] => (node[key] ?? []) as readonly unknown[];

/** Returns the values of a list of `node` that the same list of `other` lacks. */
const onlyIn = (node: Node, other: Node, key: string): readonly unknown[] =>
  listOf(node, key).filter((value) => !listOf(other, key).includes(value));

/** Compares what matters in both directions: types, fields and the items of a list. */
const commonChanges = (compare: Compare, before: Node, after: Node, at: string): readonly string[] => [
  ...['type', 'format']
    .filter((key) => before[key] !== undefined && before[key] !== after[key])
    .map((key) => `${at}: ${key} is ${after[key] ?? 'open'} and was ${before[key]}`),
  ...compareChildren(
    child(before, 'properties'),
    child(after, 'properties'),
    (name) => `${at}.${name} was removed`,
    (old, now, name) => compare(old, now, `${at}.${name}`),
  ),
  ...(before.items === undefined ? [] : compare(child(before, 'items'), child(after, 'items'), `${at}[]`)),
];

const tighterBounds: Compare = (before, after, at) => {
  const boundOf = (node: Node, key: string, none: number) => Number(node[key] ?? none);
  const lower = ['minimum', 'minLength', 'minItems'].filter(
    (key) => boundOf(after, key, -Infinity) > boundOf(before, key, -Infinity),
  );
  const upper = ['maximum', 'maxLength', 'maxItems'].filter(
    (key) => boundOf(after, key, Infinity) < boundOf(before, key, Infinity),
  );
  return [...lower, ...upper].map((key) => `${at}: ${key} is tighter`);
};

const removedValues: Compare = (before, after, at) => {
  if (after.enum === undefined) return [];
  if (before.enum === undefined) return [`${at}: only listed values are accepted now`];
  return onlyIn(before, after, 'enum').map(
    (value) => `${at}: ${JSON.stringify(value)} is no longer accepted`,
  );
};

const addedValues: Compare = (before, after, at) => {
  if (before.enum === undefined) return [];
  if (after.enum === undefined) return [`${at}: any value is possible now`];
  return onlyIn(after, before, 'enum').map((value) => `${at}: ${JSON.stringify(value)} is possible now`);
};

/**
 * Returns what may no longer be sent. Any changed pattern counts: whether the new pattern accepts everything that the old one
 * accepted cannot be decided in general.
 */
export const requestSchemaChanges: Compare = (before, after, at) => [
  ...commonChanges(requestSchemaChanges, before, after, at),
  ...onlyIn(after, before, 'required').map((name) => `${at}.${name} is required now`),
  ...removedValues(before, after, at),
  ...tighterBounds(before, after, at),
  ...(after.pattern === undefined || after.pattern === before.pattern ? [] : [`${at}: pattern changed`]),
  ...(after.default === before.default ? [] : [`${at}: default changed`]),
];

/** The alternatives of a `oneOf`, or the schema itself. */
const alternativesOf = (schema: Node): readonly Node[] =>
  schema.oneOf === undefined ? [schema] : (schema.oneOf as readonly Node[]);

/** Returns what can no longer be relied on. Alternatives are matched by title: one more problem code breaks no caller. */
export const responseSchemaChanges: Compare = (before, after, at) => {
  if (before.oneOf !== undefined || after.oneOf !== undefined) {
    return alternativesOf(before).flatMap((old) => {
      const now = alternativesOf(after).find(({ title }) => title === old.title);
      return now === undefined ? [] : responseSchemaChanges(old, now, `${at} ${old.title}`);
    });
  }
  return [
    ...commonChanges(responseSchemaChanges, before, after, at),
    ...onlyIn(before, after, 'required')
      .filter((name) => String(name) in child(after, 'properties'))
      .map((name) => `${at}.${name} is optional now`),
    ...addedValues(before, after, at),
  ];
};
