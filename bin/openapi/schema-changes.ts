/** What a schema lost between two documents: for a request, what may be sent; for an answer, what may be relied on. */
import { child, type Node, resolve, type Sides } from './document-node.ts';

const listOf = (node: Node, key: string): readonly unknown[] => (node[key] ?? []) as readonly unknown[];

const typeChange = (before: Node, after: Node, at: string): string[] =>
  ['type', 'format']
    .filter((key) => before[key] !== undefined && before[key] !== after[key])
    .map((key) => `${at}: ${key} is ${after[key] ?? 'open'} and was ${before[key]}`);

type Compare = (before: Node, after: Node, sides: Sides, at: string) => string[];

/** Compares what both schemas have below them: the properties they share, and the items of a list. */
const below = (compare: Compare, before: Node, after: Node, sides: Sides, at: string): string[] => {
  const [old, now] = [child(before, 'properties'), child(after, 'properties')];
  const shared = Object.keys(old).filter((name) => name in now);
  const items =
    before.items === undefined
      ? []
      : compare(child(before, 'items'), child(after, 'items'), sides, `${at}[]`);
  return [
    ...shared.flatMap((name) => compare(child(old, name), child(now, name), sides, `${at}.${name}`)),
    ...items,
  ];
};

const removed = (before: Node, after: Node, at: string): string[] => {
  const now = child(after, 'properties');
  return Object.keys(child(before, 'properties'))
    .filter((name) => !(name in now))
    .map((name) => `${at}.${name} is gone`);
};

const LOWER_BOUNDS = ['minimum', 'minLength', 'minItems'];
const UPPER_BOUNDS = ['maximum', 'maxLength', 'maxItems'];

const tighterBounds = (before: Node, after: Node, at: string): string[] => {
  const numberAt = (node: Node, key: string, open: number) =>
    node[key] === undefined ? open : Number(node[key]);
  const lower = LOWER_BOUNDS.filter(
    (key) => numberAt(after, key, -Infinity) > numberAt(before, key, -Infinity),
  );
  const upper = UPPER_BOUNDS.filter(
    (key) => numberAt(after, key, Infinity) < numberAt(before, key, Infinity),
  );
  return [...lower, ...upper].map((key) => `${at}: ${key} is tighter`);
};

const fewerValues = (before: Node, after: Node, at: string): string[] => {
  if (after.enum === undefined) return [];
  if (before.enum === undefined) return [`${at}: only some values are taken now`];
  return listOf(before, 'enum')
    .filter((value) => !listOf(after, 'enum').includes(value))
    .map((value) => `${at}: ${JSON.stringify(value)} is no longer taken`);
};

const otherPattern = (before: Node, after: Node, at: string): string[] =>
  after.pattern === undefined || after.pattern === before.pattern ? [] : [`${at}: pattern changed`];

const otherDefault = (before: Node, after: Node, at: string): string[] =>
  before.default === after.default ? [] : [`${at}: default changed`];

/** What may no longer be sent. A changed pattern counts: whether it takes all that the old one took, nobody can tell by machine. */
export const requestNarrowings: Compare = (oldNode, newNode, sides, at) => {
  const [before, after] = [resolve(oldNode, sides.before), resolve(newNode, sides.after)];
  const wasRequired = listOf(before, 'required');
  return [
    ...typeChange(before, after, at),
    ...removed(before, after, at),
    ...listOf(after, 'required')
      .filter((name) => !wasRequired.includes(name))
      .map((name) => `${at}.${name} is required now`),
    ...fewerValues(before, after, at),
    ...tighterBounds(before, after, at),
    ...otherPattern(before, after, at),
    ...otherDefault(before, after, at),
    ...below(requestNarrowings, before, after, sides, at),
  ];
};

const newValues = (before: Node, after: Node, at: string): string[] => {
  if (before.enum === undefined) return [];
  if (after.enum === undefined) return [`${at}: any value may come now`];
  return listOf(after, 'enum')
    .filter((value) => !listOf(before, 'enum').includes(value))
    .map((value) => `${at}: ${JSON.stringify(value)} may come now`);
};

/** The alternatives of a schema that is one of several; the schema itself where it is not. */
const alternatives = (schema: Node, document: Node): readonly Node[] =>
  schema.oneOf === undefined
    ? [schema]
    : (listOf(schema, 'oneOf') as Node[]).map((alternative) => resolve(alternative, document));

const titleOf = (schema: Node): unknown => schema.title;

/** What can no longer be relied on. Alternatives are matched by title: one more problem code breaks nobody. */
export const responseLosses: Compare = (oldNode, newNode, sides, at) => {
  const [before, after] = [resolve(oldNode, sides.before), resolve(newNode, sides.after)];
  if (before.oneOf !== undefined || after.oneOf !== undefined) {
    const now = alternatives(after, sides.after);
    return alternatives(before, sides.before).flatMap((old) => {
      const match = now.find((candidate) => titleOf(candidate) === titleOf(old));
      return match === undefined ? [] : responseLosses(old, match, sides, `${at} ${titleOf(old)}`);
    });
  }
  const isRequired = listOf(after, 'required');
  return [
    ...typeChange(before, after, at),
    ...removed(before, after, at),
    ...listOf(before, 'required')
      .filter((name) => !isRequired.includes(name) && String(name) in child(after, 'properties'))
      .map((name) => `${at}.${name} may be absent now`),
    ...newValues(before, after, at),
    ...below(responseLosses, before, after, sides, at),
  ];
};
