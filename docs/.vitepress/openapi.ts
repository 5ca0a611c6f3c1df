import document from '../../openapi.json' with { type: 'json' };
import { PLACEHOLDERS } from '../../shared/docs/site.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
}

export const { info, tags } = document;

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as unknown as Record<string, Omit<Operation, 'method' | 'path'>>).map(
    ([method, operation]) => ({ ...operation, path, method: method.toUpperCase() }),
  ),
);

export const resolve = ({ $ref, ...schema }: Schema): Schema => {
  const name = $ref?.split('/').at(-1) as keyof typeof document.components.schemas;
  return $ref === undefined ? schema : (document.components.schemas[name] as Schema);
};

/** The responses of an operation that are no problems. */
export const successesOf = ({ responses }: Operation) =>
  Object.entries(responses).filter(([, { content = {} }]) => !('application/problem+json' in content));

/** The problems of an operation. The description of a response has a paragraph for each of its codes: `code`: what it says. */
export const problemsOf = ({ responses }: Operation) =>
  Object.entries(responses).flatMap(([status, { description }]) =>
    [...description.matchAll(/^`(\w+)`: (.+)$/gm)].map(([, code = '', detail = '']) => ({
      code,
      status,
      detail,
    })),
  );

/** A paragraph of more than so many characters is divided at the end of a sentence. */
const PARAGRAPH = 160;

const inParagraphs = (text: string): string => {
  const paragraphs: string[] = [];
  for (const sentence of text.split(/(?<=\.) (?=[A-Z`])/)) {
    const last = paragraphs.pop();
    if (last === undefined) paragraphs.push(sentence);
    else if (last.length + sentence.length > PARAGRAPH) paragraphs.push(last, sentence);
    else paragraphs.push(`${last} ${sentence}`);
  }
  return paragraphs.join('\n\n');
};

const requiredFirst = ({ properties = {}, required = [], ...schema }: Schema): Schema => {
  const [first, then] = [true, false].map((is) =>
    Object.entries(properties).filter(([name]) => required.includes(name) === is),
  );
  return { ...schema, properties: Object.fromEntries([...(first ?? []), ...(then ?? [])]), required };
};

const { securitySchemes, ...components } = document.components;

const published = {
  ...document,
  servers: [{ url: PLACEHOLDERS.address }],
  paths: Object.fromEntries(
    Map.groupBy(operations, ({ path }) => path)
      .entries()
      .map(([path, ofPath]) => [
        path,
        Object.fromEntries(
          ofPath.map(({ method, path: _, ...operation }) => [
            method.toLowerCase(),
            {
              ...operation,
              description: inParagraphs(operation.description),
              responses: Object.fromEntries(successesOf({ method, path, ...operation })),
            },
          ]),
        ),
      ]),
  ),
  components: {
    ...components,
    securitySchemes: {
      ApiKey: { ...securitySchemes.ApiKey, example: 'blk_your_key' },
      AccessToken: { ...securitySchemes.AccessToken, example: 'an_access_token' },
    },
  },
};

/**
 * The document for pages: an absolute server and a key as it begins, for the samples; short paragraphs; required fields first; and
 * no problems, which a page lists by code.
 */
export const spec = JSON.parse(JSON.stringify(published), (_name, node) =>
  node?.properties && node.required ? requiredFirst(node) : node,
) as typeof published;
