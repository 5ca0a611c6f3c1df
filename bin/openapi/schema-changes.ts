/** Compares two versions of a schema: in a request, what may be sent; in a response, what may be relied on. */
import { child, commonKeys, type Documents, dereference, type Node, removedKeys } from './document-node.ts';

type Compare = (before: Node, after: Node, documents: Documents, at: string) => string[];

const listOf = (node: Node, key: string): readonly unknown[] => (node[key] ?? []) as readonly unknown[];

const typeChanges = (before: Node, after: Node, at: string): string[] =>
  ['type', 'format']
    .filter((key) => before[key] !== undefined && before[key] !== after[key])
    .map((key) => `${at}: ${key} is ${after[key] ?? 'open'} and was ${before[key]}`);

const removedProperties = (before: Node, after: Node, at: string): string[] =>
  removedKeys(child(before, 'properties'), child(after, 'properties')).map(
    (name) => `${at}.${name} was removed`,
  );

/** Compares the properties that both schemas have, and the items of a list. */
const nestedChanges = (
  compare: Compare,
  [before, after]: readonly [Node, Node],
  documents: Documents,
  at: string,
): string[] => {
  const [old, now] = [child(before, 'properties'), child(after, 'properties')];
  const items =
    before.items === undefined
      ? []
      : compare(child(before, 'items'), child(after, 'items'), documents, `${at}[]`);
  return [
    ...commonKeys(old, now).flatMap((name) =>
      compare(child(old, name), child(now, name), documents, `${at}.${name}`),
    ),
    ...items,
  ];
};

const LOWER_BOUNDS = ['minimum', 'minLength', 'minItems'];
const UPPER_BOUNDS = ['maximum', 'maxLength', 'maxItems'];

const tighterBounds = (before: Node, after: Node, at: string): string[] => {
  const boundOf = (node: Node, key: string, none: number) =>
    node[key] === undefined ? none : Number(node[key]);
  const lower = LOWER_BOUNDS.filter(
    (key) => boundOf(after, key, -Infinity) > boundOf(before, key, -Infinity),
  );
  const upper = UPPER_BOUNDS.filter((key) => boundOf(after, key, Infinity) < boundOf(before, key, Infinity));
  return [...lower, ...upper].map((key) => `${at}: ${key} is tighter`);
};

const removedValues = (before: Node, after: Node, at: string): string[] => {
  if (after.enum === undefined) return [];
  if (before.enum === undefined) return [`${at}: only listed values are accepted now`];
  return listOf(before, 'enum')
    .filter((value) => !listOf(after, 'enum').includes(value))
    .map((value) => `${at}: ${JSON.stringify(value)} is no longer accepted`);
};

const changedPattern = (before: Node, after: Node, at: string): string[] =>
  after.pattern === undefined || after.pattern === before.pattern ? [] : [`${at}: pattern changed`];

const changedDefault = (before: Node, after: Node, at: string): string[] =>
  before.default === after.default ? [] : [`${at}: default changed`];

/**
 * Returns what may no longer be sent. Any changed pattern counts: whether the new pattern accepts everything that the old one
 * accepted cannot be decided in general.
 */
export const requestSchemaChanges: Compare = (oldNode, newNode, documents, at) => {
  const before = dereference(oldNode, documents.before);
  const after = dereference(newNode, documents.after);
  const wasRequired = listOf(before, 'required');
  return [
    ...typeChanges(before, after, at),
    ...removedProperties(before, after, at),
    ...listOf(after, 'required')
      .filter((name) => !wasRequired.includes(name))
      .map((name) => `${at}.${name} is required now`),
    ...removedValues(before, after, at),
    ...tighterBounds(before, after, at),
    ...changedPattern(before, after, at),
    ...changedDefault(before, after, at),
    ...nestedChanges(requestSchemaChanges, [before, after], documents, at),
  ];
};

const addedValues = (before: Node, after: Node, at: string): string[] => {
  if (before.enum === undefined) return [];
  if (after.enum === undefined) return [`${at}: any value is possible now`];
  return listOf(after, 'enum')
    .filter((value) => !listOf(before, 'enum').includes(value))
    .map((value) => `${at}: ${JSON.stringify(value)} is possible now`);
};

/** The alternatives of a `oneOf`, or the schema itself. */
const alternativesOf = (schema: Node, document: Node): readonly Node[] =>
  schema.oneOf === undefined
    ? [schema]
    : (listOf(schema, 'oneOf') as Node[]).map((alternative) => dereference(alternative, document));

/** Returns what can no longer be relied on. Alternatives are matched by title: one more problem code breaks no caller. */
export const responseSchemaChanges: Compare = (oldNode, newNode, documents, at) => {
  const before = dereference(oldNode, documents.before);
  const after = dereference(newNode, documents.after);
  if (before.oneOf !== undefined || after.oneOf !== undefined) {
    const now = alternativesOf(after, documents.after);
    return alternativesOf(before, documents.before).flatMap((old) => {
      const match = now.find(({ title }) => title === old.title);
      return match === undefined ? [] : responseSchemaChanges(old, match, documents, `${at} ${old.title}`);
    });
  }
  const isRequired = listOf(after, 'required');
  return [
    ...typeChanges(before, after, at),
    ...removedProperties(before, after, at),
    ...listOf(before, 'required')
      .filter((name) => !isRequired.includes(name) && String(name) in child(after, 'properties'))
      .map((name) => `${at}.${name} is optional now`),
    ...addedValues(before, after, at),
    ...nestedChanges(responseSchemaChanges, [before, after], documents, at),
  ];
};
