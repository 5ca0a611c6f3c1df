/**
 * Compares a real response with the published document. The scenario suite passes it every response, those of the gateway included:
 *
 *     const faults = responseFaults({ method: 'POST', path: '/v1/users?x=1', status, headers, body });
 *     if (faults.length > 0) throw new Error(faults.join('\n'));
 *
 * It is stricter than a caller should be: a field or header of ours that the document does not name is a fault.
 */
import { readFileSync } from 'node:fs';
import { Ajv, type AnySchemaObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { problemSchema } from '#openapi/problem-schemas.ts';
import { forEachPath } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';

/** A request and its response over HTTP. */
export interface Exchange {
  readonly method: string;
  /** With or without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers | Readonly<Record<string, string>>;
  readonly body: string;
}

interface ResponseObject {
  readonly headers?: Readonly<Record<string, { readonly $ref?: string }>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface OperationObject {
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** The headers of the interface. Servers and networks may add others. */
const OUR_HEADERS = [
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'x-api-key-expires-at',
  'link',
  'deprecation',
  'sunset',
];

/** Forbids additional properties in every object schema that lists its properties. */
const close = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(close);
  if (typeof node !== 'object' || node === null) return node;
  const closed = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, close(value)]));
  const isClosable = closed.type === 'object' && closed.properties !== undefined;
  return isClosable ? { additionalProperties: false, ...closed } : closed;
};

const document = close(
  JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')),
) as AnySchemaObject;

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', ...document }, undefined, false, false);
const notFound = ajv.compile({
  ...(close(problemSchema('not_found')) as object),
});

const pointerOf = (parts: readonly string[]): string =>
  parts.map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

const compiled = new Map<string, ValidateFunction>();

/** Returns the validator of the schema at a path of the document. */
const validatorAt = (...parts: readonly string[]): ValidateFunction => {
  const $ref = `openapi#${pointerOf(parts)}`;
  const validate = compiled.get($ref) ?? ajv.compile({ $ref });
  compiled.set($ref, validate);
  return validate;
};

const faultsOf = (validate: ValidateFunction, value: unknown, at: string): string[] =>
  validate(value)
    ? []
    : (validate.errors ?? []).map(
        ({ instancePath, message, params }) => `${at}${instancePath} ${message} ${JSON.stringify(params)}`,
      );

const templateOf = (paths: readonly string[], path: string): string | undefined => {
  const matches = (template: string) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path);
  return paths.find((template) => template === path) ?? paths.find(matches);
};

const parsed = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

const headerFaults = (headers: Headers, response: ResponseObject): string[] => {
  const named = Object.entries(response.headers ?? {});
  const undocumented = OUR_HEADERS.filter(
    (name) => headers.has(name) && !named.some(([documented]) => documented.toLowerCase() === name),
  ).map((name) => `header ${name} is not documented`);
  return named
    .flatMap(([name, header]) => {
      const component = header.$ref?.split('/').at(-1);
      const value = headers.get(name);
      const { required } =
        component === undefined ? { required: false } : document.components.headers[component];
      if (value === null) return required ? [`header ${name} is missing`] : [];
      if (component === undefined) return [];
      const validate = validatorAt('components', 'headers', component, 'schema');
      const isNumber = document.components.headers[component].schema.type === 'integer';
      return faultsOf(validate, isNumber ? Number(value) : value, `header ${name}`);
    })
    .concat(undocumented);
};

const mediaTypeOf = (headers: Headers): string =>
  (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';

/** The members of a problem that repeat a header. */
const repeatedFaults = (headers: Headers, value: unknown): string[] => {
  const { request_id, retry_after } = value as { request_id?: unknown; retry_after?: number };
  const isRepeated = retry_after === undefined || String(retry_after) === headers.get('retry-after');
  return [
    ...(request_id === undefined || request_id === headers.get('x-request-id')
      ? []
      : ['request_id and X-Request-Id are not the same']),
    ...(isRepeated ? [] : ['retry_after and Retry-After are not the same']),
  ];
};

const bodyFaults = (
  { body }: Exchange,
  headers: Headers,
  response: ResponseObject,
  at: readonly string[],
): string[] => {
  if (response.content === undefined) return body === '' ? [] : ['has a body, but none is documented'];
  const mediaType = mediaTypeOf(headers);
  if (!(mediaType in response.content)) return [`content type ${mediaType} is not documented`];
  if (!mediaType.endsWith('json')) return [];
  const json = parsed(body);
  if (json === undefined) return ['the body is not JSON'];
  return [
    ...faultsOf(validatorAt(...at, 'content', mediaType, 'schema'), json.value, 'body'),
    ...repeatedFaults(headers, json.value),
  ];
};

/** Outside the document, the only response is `not_found`, except for rows of the table that are not published. */
const unpublishedFaults = ({ method, status, body }: Exchange, headers: Headers, path: string): string[] => {
  const ofTable = forEachPath(allRoutes).filter(
    (route) => route.method === method && !(route.path in document.paths),
  );
  const isOfTable =
    templateOf(
      ofTable.map((route) => route.path),
      path,
    ) !== undefined;
  if (isOfTable && status !== 404) return [];
  if (status !== 404) return [`status ${status} for a path that is not in the document`];
  const json = parsed(body);
  if (mediaTypeOf(headers) !== 'application/problem+json' || json === undefined) return ['is not a problem'];
  return [...faultsOf(notFound, json.value, 'body'), ...repeatedFaults(headers, json.value)];
};

/** Returns every difference between a response and the document; none if it conforms. */
export const responseFaults = (exchange: Exchange): readonly string[] => {
  const { method, status } = exchange;
  const path = exchange.path.split('?')[0] ?? '';
  const headers = new Headers(exchange.headers as Headers);
  const template = templateOf(Object.keys(document.paths), path);
  const verb = method.toLowerCase();
  const operation = template === undefined ? undefined : (document.paths[template][verb] as OperationObject);
  const everywhere = [
    ...(headers.has('x-request-id') ? [] : ['header X-Request-Id is missing']),
    ...(path.startsWith('/v1/') && headers.get('cache-control') !== 'no-store'
      ? ['Cache-Control is not no-store']
      : []),
    ...(mediaTypeOf(headers).endsWith('json') && !/^$|\n$/.test(exchange.body)
      ? ['the JSON does not end with a newline']
      : []),
  ];
  const own = (): string[] => {
    if (template === undefined || operation === undefined) return unpublishedFaults(exchange, headers, path);
    const response = operation.responses[status];
    if (response === undefined) return [`status ${status} is not documented`];
    const at = ['paths', template, verb, 'responses', String(status)];
    return [...headerFaults(headers, response), ...bodyFaults(exchange, headers, response, at)];
  };
  return [...new Set([...everywhere, ...own()])].map((fault) => `${method} ${path} ${status}: ${fault}`);
};
