/**
 * Finds the changes between two versions of the document that break a caller of the older one. It covers the part of OpenAPI that
 * bin/openapi/ writes; the npm tools for this are unmaintained or download a Go program.
 *
 * Requests are strict (unknown fields and parameters are rejected), so what a caller may send must not shrink. Callers ignore
 * unknown response fields, so new fields and new problem codes are allowed; what a caller may rely on must not shrink.
 */
import { child, commonKeys, type Documents, dereference, type Node, removedKeys } from './document-node.ts';
import { requestSchemaChanges, responseSchemaChanges } from './schema-changes.ts';

export type Document = Node & { readonly info: { readonly version: string } };

/** The operations of a document by method and path: `GET /v1/users`. */
const operationsOf = (document: Node): Node =>
  Object.fromEntries(
    Object.entries(child(document, 'paths')).flatMap(([path, methods]) =>
      Object.entries(methods as Node).map(([method, operation]) => [
        `${method.toUpperCase()} ${path}`,
        operation,
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

const parameterChanges = (before: Node, after: Node, documents: Documents): string[] => {
  const [old, now] = [parametersOf(before), parametersOf(after)];
  return [
    ...removedKeys(old, now).map((name) => `parameter ${name} was removed`),
    ...Object.keys(now)
      .filter((name) => child(now, name).required === true && child(old, name).required !== true)
      .map((name) => `parameter ${name} is required now`),
    ...commonKeys(old, now).flatMap((name) =>
      requestSchemaChanges(
        child(child(old, name), 'schema'),
        child(child(now, name), 'schema'),
        documents,
        `parameter ${name}`,
      ),
    ),
  ];
};

const bodyChanges = (before: Node, after: Node, documents: Documents): string[] => {
  const [old, now] = [child(before, 'requestBody'), child(after, 'requestBody')];
  const [oldContent, nowContent] = [child(old, 'content'), child(now, 'content')];
  return [
    ...(now.required === true && old.required !== true ? ['a body is required now'] : []),
    ...removedKeys(oldContent, nowContent).map((type) => `body: ${type} is no longer accepted`),
    ...commonKeys(oldContent, nowContent).flatMap((type) =>
      requestSchemaChanges(
        child(child(oldContent, type), 'schema'),
        child(child(nowContent, type), 'schema'),
        documents,
        'body',
      ),
    ),
  ];
};

const headerChanges = (before: Node, after: Node, documents: Documents): string[] => {
  const [old, now] = [child(before, 'headers'), child(after, 'headers')];
  const isRequired = (headers: Node, name: string, document: Node) =>
    dereference(child(headers, name), document).required === true;
  return [
    ...removedKeys(old, now).map((name) => `header ${name} was removed`),
    ...commonKeys(old, now)
      .filter((name) => isRequired(old, name, documents.before) && !isRequired(now, name, documents.after))
      .map((name) => `header ${name} is optional now`),
  ];
};

const responseChanges = (before: Node, after: Node, documents: Documents): string[] => {
  const [old, now] = [child(before, 'content'), child(after, 'content')];
  return [
    ...headerChanges(before, after, documents),
    ...removedKeys(old, now).map((type) => `is no longer ${type}`),
    ...commonKeys(old, now).flatMap((type) =>
      responseSchemaChanges(
        child(child(old, type), 'schema'),
        child(child(now, type), 'schema'),
        documents,
        'response',
      ),
    ),
  ];
};

const operationChanges = (before: Node, after: Node, documents: Documents): string[] => {
  const [old, now] = [child(before, 'responses'), child(after, 'responses')];
  return [
    ...['operationId', 'security', 'x-required-scope']
      .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
      .map((key) => `${key} changed`),
    ...parameterChanges(before, after, documents),
    ...bodyChanges(before, after, documents),
    ...removedKeys(old, now).map((status) => `status ${status} was removed`),
    ...commonKeys(old, now).flatMap((status) =>
      responseChanges(child(old, status), child(now, status), documents).map(
        (change) => `${status}: ${change}`,
      ),
    ),
  ];
};

/** Returns where a request carries the API key, as comparable text. */
const apiKeyOf = (document: Node): string => {
  const schemes = child(child(document, 'components'), 'securitySchemes');
  const { type, in: location, name } = child(schemes, 'ApiKey');
  return JSON.stringify([type, location, name]);
};

/** Returns every change that breaks a caller of `before`, in words. */
export const breakingChanges = (before: Document, after: Document): readonly string[] => {
  const documents = { before, after };
  const [old, now] = [operationsOf(before), operationsOf(after)];
  return [
    ...(apiKeyOf(before) === apiKeyOf(after) ? [] : ['the API key is sent in another way']),
    ...removedKeys(old, now).map((operation) => `${operation} was removed`),
    ...commonKeys(old, now).flatMap((operation) =>
      operationChanges(child(old, operation), child(now, operation), documents).map(
        (change) => `${operation}: ${change}`,
      ),
    ),
  ];
};

const majorOf = ({ info }: Document): number => Number(info.version.split('.')[0]);

/** Returns whether `after` has a higher major version, which permits breaking changes. */
export const raisesMajorVersion = (before: Document, after: Document): boolean =>
  majorOf(after) > majorOf(before);
