/**
 * What changed between two versions of the document that breaks a caller of the older one. No kept-up npm tool was found for this
 * (the good ones are Go programs), and ours is a small part of OpenAPI: the parts that `shared/openapi` writes.
 *
 * Requests are strict (unknown fields and parameters are refused), so what a caller may send must not shrink; answers are read
 * leniently, so what a caller may rely on must not shrink, while new fields and new problem codes may come.
 */
import { child, type Node, resolve, type Sides } from './document-node.ts';
import { requestNarrowings, responseLosses } from './schema-changes.ts';

export type Document = Node & { readonly info: { readonly version: string } };

export interface Judgement {
  readonly breaking: readonly string[];
  /** Whether info.version says that callers must change: a higher major number. */
  readonly allowed: boolean;
}

const majorOf = ({ info }: Document): number => Number(info.version.split('.')[0]);

const missing = (before: Node, after: Node): string[] => Object.keys(before).filter((key) => !(key in after));

const kept = (before: Node, after: Node): string[] => Object.keys(before).filter((key) => key in after);

const methodsOf = (document: Node): Node =>
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

const parameterChanges = (before: Node, after: Node, sides: Sides): string[] => {
  const [old, now] = [parametersOf(before), parametersOf(after)];
  return [
    ...missing(old, now).map((name) => `parameter ${name} is gone`),
    ...Object.keys(now)
      .filter((name) => child(now, name).required === true && child(old, name).required !== true)
      .map((name) => `parameter ${name} is required now`),
    ...kept(old, now).flatMap((name) =>
      requestNarrowings(
        child(child(old, name), 'schema'),
        child(child(now, name), 'schema'),
        sides,
        `parameter ${name}`,
      ),
    ),
  ];
};

const bodyChanges = (before: Node, after: Node, sides: Sides): string[] => {
  const [old, now] = [child(before, 'requestBody'), child(after, 'requestBody')];
  const [oldContent, nowContent] = [child(old, 'content'), child(now, 'content')];
  const needed = now.required === true && old.required !== true ? ['a body is required now'] : [];
  return [
    ...needed,
    ...missing(oldContent, nowContent).map((type) => `body: ${type} is no longer taken`),
    ...kept(oldContent, nowContent).flatMap((type) =>
      requestNarrowings(
        child(child(oldContent, type), 'schema'),
        child(child(nowContent, type), 'schema'),
        sides,
        'body',
      ),
    ),
  ];
};

const headerChanges = (
  before: Node,
  after: Node,
  { before: oldDocument, after: newDocument }: Sides,
): string[] => {
  const [old, now] = [child(before, 'headers'), child(after, 'headers')];
  const isRequired = (headers: Node, name: string, document: Node) =>
    resolve(child(headers, name), document).required === true;
  return [
    ...missing(old, now).map((name) => `header ${name} is gone`),
    ...kept(old, now)
      .filter((name) => isRequired(old, name, oldDocument) && !isRequired(now, name, newDocument))
      .map((name) => `header ${name} may be absent now`),
  ];
};

const responseChanges = (before: Node, after: Node, sides: Sides): string[] => {
  const [old, now] = [child(before, 'content'), child(after, 'content')];
  return [
    ...headerChanges(before, after, sides),
    ...missing(old, now).map((type) => `is no longer ${type}`),
    ...kept(old, now).flatMap((type) =>
      responseLosses(child(child(old, type), 'schema'), child(child(now, type), 'schema'), sides, 'answer'),
    ),
  ];
};

const operationChanges = (before: Node, after: Node, sides: Sides): string[] => {
  const [old, now] = [child(before, 'responses'), child(after, 'responses')];
  const same = (key: string) => JSON.stringify(before[key]) === JSON.stringify(after[key]);
  return [
    ...['operationId', 'security', 'x-required-scope']
      .filter((key) => !same(key))
      .map((key) => `${key} changed`),
    ...parameterChanges(before, after, sides),
    ...bodyChanges(before, after, sides),
    ...missing(old, now).map((status) => `status ${status} is gone`),
    ...kept(old, now).flatMap((status) =>
      responseChanges(child(old, status), child(now, status), sides).map((change) => `${status}: ${change}`),
    ),
  ];
};

/** Everything in `after` that breaks a caller of `before`. */
export const judgeChanges = (before: Document, after: Document): Judgement => {
  const sides = { before, after };
  const [old, now] = [methodsOf(before), methodsOf(after)];
  const schemesOf = (document: Node) => child(child(document, 'components'), 'securitySchemes');
  const keyOf = (document: Node) => {
    const { type, in: place, name } = child(schemesOf(document), 'ApiKey');
    return JSON.stringify([type, place, name]);
  };
  return {
    allowed: majorOf(after) > majorOf(before),
    breaking: [
      ...(keyOf(before) === keyOf(after) ? [] : ['the API key is sent in another way']),
      ...missing(old, now).map((operation) => `${operation} is gone`),
      ...kept(old, now).flatMap((operation) =>
        operationChanges(child(old, operation), child(now, operation), sides).map(
          (change) => `${operation}: ${change}`,
        ),
      ),
    ],
  };
};
