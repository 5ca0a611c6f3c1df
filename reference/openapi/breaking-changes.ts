/**
 * Finds the changes between two versions of the document that break a caller of the older one. It covers the part of OpenAPI that
 * reference/openapi/ writes; the npm tools for this are unmaintained or download a Go program.
 *
 * Requests are strict (unknown fields and parameters are rejected), so what a caller may send must not shrink. Callers ignore
 * unknown response fields, so new fields and new problem codes are allowed; what a caller may rely on must not shrink.
 */
import {
  child,
  compareChildren,
  type Node,
  requestSchemaChanges,
  responseSchemaChanges,
} from './schema-changes.ts';

export type Document = Node & { readonly info: { readonly version: string } };

/** Returns a copy of a part of the document in which each `$ref` is replaced by its target. */
const dereferenced = (part: unknown, document: Node): unknown => {
  if (Array.isArray(part)) return part.map((item) => dereferenced(item, document));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref } = part as Node;
  if (typeof $ref === 'string') {
    // Our references have no escaped characters: `#/components/schemas/User`.
    const target = $ref.split('/').slice(1).reduce<Node>(child, document);
    return dereferenced(target, document);
  }
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, dereferenced(value, document)]));
};

/** The operations of a document by method and path: `GET /v1/users`. */
const operationsOf = (document: Node): Node =>
  Object.fromEntries(
    Object.entries(child(document, 'paths')).flatMap(([path, methods]) =>
      Object.entries(methods as Node).map(([method, operation]) => [
        `${method.toUpperCase()} ${path}`,
        dereferenced(operation, document),
      ]),
    ),
  );

const parametersOf = (operation: Node): Node =>
  Object.fromEntries(
    ((operation.parameters ?? []) as Node[]).map((parameter) => [
      `${parameter.in} ${parameter.name}`,
      parameter,
    ]),
  );

const parameterChanges = (before: Node, after: Node): readonly string[] => {
  const [old, now] = [parametersOf(before), parametersOf(after)];
  return [
    ...Object.keys(now)
      .filter((name) => child(now, name).required === true && child(old, name).required !== true)
      .map((name) => `parameter ${name} is required now`),
    ...compareChildren(
      old,
      now,
      (name) => `parameter ${name} was removed`,
      (one, other, name) =>
        requestSchemaChanges(child(one, 'schema'), child(other, 'schema'), `parameter ${name}`),
    ),
  ];
};

const bodyChanges = (before: Node, after: Node): readonly string[] => [
  ...(after.required === true && before.required !== true ? ['a body is required now'] : []),
  ...compareChildren(
    child(before, 'content'),
    child(after, 'content'),
    (type) => `body: ${type} is no longer accepted`,
    (old, now) => requestSchemaChanges(child(old, 'schema'), child(now, 'schema'), 'body'),
  ),
];

const responseChanges = (before: Node, after: Node): readonly string[] => [
  ...compareChildren(
    child(before, 'headers'),
    child(after, 'headers'),
    (name) => `header ${name} was removed`,
    (old, now, name) =>
      old.required === true && now.required !== true ? [`header ${name} is optional now`] : [],
  ),
  ...compareChildren(
    child(before, 'content'),
    child(after, 'content'),
    (type) => `is no longer ${type}`,
    (old, now) => responseSchemaChanges(child(old, 'schema'), child(now, 'schema'), 'response'),
  ),
];

const operationChanges = (before: Node, after: Node): readonly string[] => [
  ...['operationId', 'security', 'x-required-scope']
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => `${key} changed`),
  ...parameterChanges(before, after),
  ...bodyChanges(child(before, 'requestBody'), child(after, 'requestBody')),
  ...compareChildren(
    child(before, 'responses'),
    child(after, 'responses'),
    (status) => `status ${status} was removed`,
    (old, now, status) => responseChanges(old, now).map((change) => `${status}: ${change}`),
  ),
];

/** Returns where a request carries the API key, as comparable text. */
const apiKeyOf = (document: Node): string => {
  const schemes = child(child(document, 'components'), 'securitySchemes');
  const { type, in: location, name } = child(schemes, 'ApiKey');
  return JSON.stringify([type, location, name]);
};

/** Returns every change that breaks a caller of `before`, in words. */
export const breakingChanges = (before: Document, after: Document): readonly string[] => [
  ...(apiKeyOf(before) === apiKeyOf(after) ? [] : ['the API key is sent in another way']),
  ...compareChildren(
    operationsOf(before),
    operationsOf(after),
    (operation) => `${operation} was removed`,
    (old, now, operation) => operationChanges(old, now).map((change) => `${operation}: ${change}`),
  ),
];

const majorOf = ({ info }: Document): number => Number(info.version.split('.')[0]);

/** Returns whether `after` has a higher major version, which permits breaking changes. */
export const raisesMajorVersion = (before: Document, after: Document): boolean =>
  majorOf(after) > majorOf(before);
