/** Any object in an OpenAPI document. */
export type Node = Readonly<Record<string, unknown>>;

/** Returns the child under `key`, or an empty node if there is none. */
export const child = (node: Node, key: string): Node => (node[key] ?? {}) as Node;

/** Returns the target of `$ref`, or the node itself. */
export const dereference = (node: Node, document: Node): Node => {
  const { $ref } = node;
  if (typeof $ref !== 'string') return node;
  return $ref
    .slice(2)
    .split('/')
    .reduce<Node>((at, key) => child(at, key.replaceAll('~1', '/').replaceAll('~0', '~')), document);
};

/** The two documents that are compared. */
export interface Documents {
  readonly before: Node;
  readonly after: Node;
}

/** The keys of `before` that `after` lacks. */
export const removedKeys = (before: Node, after: Node): string[] =>
  Object.keys(before).filter((key) => !(key in after));

/** The keys that both nodes have. */
export const commonKeys = (before: Node, after: Node): string[] =>
  Object.keys(before).filter((key) => key in after);
