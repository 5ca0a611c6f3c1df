/** Any object in an OpenAPI document. */
export type Node = Readonly<Record<string, unknown>>;

/** A child node; an empty one where there is none. */
export const child = (node: Node, key: string): Node => (node[key] ?? {}) as Node;

/** What stands behind `$ref`, or the node itself. */
export const resolve = (node: Node, document: Node): Node => {
  const { $ref } = node;
  if (typeof $ref !== 'string') return node;
  return $ref
    .slice(2)
    .split('/')
    .reduce<Node>((at, key) => child(at, key.replaceAll('~1', '/').replaceAll('~0', '~')), document);
};

/** The documents on both sides of a change. */
export interface Sides {
  readonly before: Node;
  readonly after: Node;
}
