import document from '../../openapi.json' with { type: 'json' };
import { PLACEHOLDERS } from '../../shared/docs/site.ts';

const { securitySchemes, ...components } = document.components;

/** The published document, with what the samples show: an absolute server, and a key as it begins. */
export const spec = {
  ...document,
  servers: [{ url: PLACEHOLDERS.address }],
  components: {
    ...components,
    securitySchemes: {
      ApiKey: { ...securitySchemes.ApiKey, example: 'blk_your_key' },
      AccessToken: { ...securitySchemes.AccessToken, example: 'an_access_token' },
    },
  },
};

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
}

export const operations: readonly Operation[] = Object.values(document.paths).flatMap((methods) =>
  Object.values(methods as Record<string, Operation>),
);

const resolve = (reference: string): unknown =>
  reference
    .split('/')
    .slice(1)
    .reduce((node, name) => (node as Record<string, unknown>)[name] as object, document as object);

/** Returns what the search finds of a part of the document: its summaries, descriptions and the names of its fields. */
export const searchText = (node: unknown): string => {
  if (typeof node !== 'object' || node === null) return '';
  return Object.entries(node)
    .map(([name, value]) => {
      if (name === '$ref') return searchText(resolve(value));
      if (name === 'properties') return `${Object.keys(value).join(' ')} ${searchText(value)}`;
      return /^(?:summary|description|operationId)$/.test(name) && typeof value === 'string'
        ? value
        : searchText(value);
    })
    .filter((text) => text !== '')
    .join(' ');
};
