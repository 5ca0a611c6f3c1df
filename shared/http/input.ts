import type { MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { type InputError, type InputFault, problem } from '#shared/problems.ts';
import type { ObjectSchema, Route } from '#shared/route.ts';
import { headerOf } from './request.ts';

export const MAX_BODY_BYTES = 16 * 1024;

const JSON_MEDIA_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** The character that a decoder writes for bytes that are not UTF-8. Accepting it would store a name that the caller did not send. */
const REPLACEMENT_CHARACTER = '\uFFFD';

const decodeBody = (event: APIGatewayProxyEvent): string => {
  const body = event.body ?? '';
  if (Buffer.byteLength(body, event.isBase64Encoded ? 'base64' : 'utf8') > MAX_BODY_BYTES) {
    throw problem('body_too_large');
  }
  const contentType = headerOf(event, 'content-type');
  if (contentType === undefined ? body !== '' : !JSON_MEDIA_TYPE.test(contentType.trim())) {
    throw problem('unsupported_media_type');
  }
  const text = event.isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  if (text.includes(REPLACEMENT_CHARACTER)) throw problem('malformed_json');
  // RFC 8259 §8.1: a parser may ignore a byte order mark. Windows programs write one.
  return text.replace(/^\ufeff/, '');
};

/** A missing body is read as an empty object if the schema accepts that. The parser also rejects prototype keys and very deep nesting. */
export const jsonBody = (schema: ObjectSchema): MiddlewareObj<APIGatewayProxyEvent>[] => [
  {
    before: ({ event }) => {
      event.body = decodeBody(event) || (v.safeParse(schema, {}).success ? '{}' : '');
      event.isBase64Encoded = false;
    },
  },
  httpJsonBodyParser({ disableContentTypeCheck: true }) as MiddlewareObj<APIGatewayProxyEvent>,
];

export const isParserError = (error: unknown): boolean =>
  error instanceof Error &&
  (error.cause as { readonly package?: string } | undefined)?.package === '@middy/http-json-body-parser';

type QueryParameters = Readonly<Record<string, readonly string[] | undefined>>;

/** Bounds the response to a body of thousands of unknown fields. */
const MAX_ERRORS = 100;

/** Of a name that was sent, in Unicode code points: none is halved. */
const MAX_NAME_CHARACTERS = 100;

const shorten = (name: string): string => [...name].slice(0, MAX_NAME_CHARACTERS).join('');

/** `#/display_name`: a JSON pointer in its URI fragment form (RFC 6901 §6). */
const pointerTo = (field: string): string =>
  `#/${encodeURIComponent(shorten(field).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'))}`;

/** The parameters of a query or the fields of a body, before they are parsed. */
interface Unparsed {
  readonly schema: ObjectSchema;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly noun: 'field' | 'parameter';
  /** By unknown name. */
  readonly elsewhere?: Route['fieldsElsewhere'];
}

const isMissing = ({ schema, sent }: Unparsed, name: string): boolean =>
  !Object.hasOwn(sent, name) || (sent[name] === null && schema.entries[name]?.type !== 'optional');

/** A rule about several fields is a validation of the object, so the field that it names may be missing. */
const faultOf = (unparsed: Unparsed, name: string, issue: v.BaseIssue<unknown>): InputFault => {
  const { kind, type, message } = issue;
  if (isMissing(unparsed, name)) {
    return { code: 'required', detail: kind === 'validation' ? message : 'Is required.' };
  }
  const isOneOfTexts = type === 'picklist' && typeof unparsed.sent[name] === 'string';
  return { code: kind === 'schema' && !isOneOfTexts ? 'type' : 'invalid', detail: message };
};

const unknownFault = ({ schema, noun, elsewhere = {} }: Unparsed, name: string): InputFault => {
  const known = Object.keys(schema.entries).join(', ');
  const detail = `Is not a known ${noun}: this operation has ${known === '' ? 'none' : known}.`;
  return {
    code: 'unknown',
    detail: Object.hasOwn(elsewhere, name) ? `${detail} ${elsewhere[name]}` : detail,
  };
};

/**
 * Returns the first fault of each wrong field, then every unknown field. Valibot reports only the first unknown one, and none with an
 * inherited name such as `toString`.
 */
const parseObject = (unparsed: Unparsed) => {
  const { schema, sent } = unparsed;
  const { output, issues = [] } = v.safeParse(schema, sent);
  const faults = new Map<string, InputFault>();
  for (const issue of issues) {
    const name = String(issue.path?.[0]?.key);
    if (!Object.hasOwn(schema.entries, name) || faults.has(name)) continue;
    faults.set(name, faultOf(unparsed, name, issue));
  }
  for (const name of Object.keys(sent)) {
    if (!Object.hasOwn(schema.entries, name)) faults.set(name, unknownFault(unparsed, name));
    if (faults.size >= MAX_ERRORS) break;
  }
  return { output, faults };
};

const parseBody = (schema: ObjectSchema, body: unknown, { fieldsElsewhere }: Route) => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw problem('malformed_json');
  const sent = body as Record<string, unknown>;
  const { output, faults } = parseObject({ schema, sent, noun: 'field', elsewhere: fieldsElsewhere });
  const errors: InputError[] = [...faults].map(([field, fault]) => ({ pointer: pointerTo(field), ...fault }));
  return { output, errors };
};

/** A row without a query schema knows no parameters. A known one that is given twice has no single value and is rejected. */
const parseQuery = (
  { query: schema = v.strictObject({}), ignoresQuery }: Route,
  parameters: QueryParameters,
) => {
  if (ignoresQuery) return { output: undefined, errors: [] };
  const repeated = Object.keys(schema.entries).filter((name) => (parameters[name]?.length ?? 0) > 1);
  const sent = Object.fromEntries(
    Object.entries(parameters).map(([name, values]) => [name, values?.[0] ?? '']),
  );
  const { output, faults } = parseObject({ schema, sent, noun: 'parameter' });
  for (const name of repeated) faults.set(name, { code: 'invalid', detail: 'Must be given once.' });
  const errors: InputError[] = [...faults].map(([name, fault]) => ({ parameter: shorten(name), ...fault }));
  return { output, errors };
};

const parsePath = ({ pathParameters }: Pick<Route, 'pathParameters'>, sent: unknown): unknown => {
  if (pathParameters === undefined) return undefined;
  const result = v.safeParse(pathParameters.schema, sent);
  if (!result.success) throw problem(pathParameters.problem);
  return result.output;
};

/** Throws `malformed_json`, `validation_failed` with the faults of query and body at once, then the row's own problem of the path. */
export const parseInput = (route: Route, event: APIGatewayProxyEvent) => {
  const body = route.body ? parseBody(route.body, event.body, route) : { output: undefined, errors: [] };
  const query = parseQuery(route, event.multiValueQueryStringParameters ?? {});
  const errors = [...body.errors, ...query.errors].slice(0, MAX_ERRORS);
  if (errors.length > 0) throw problem('validation_failed', { errors });
  return { path: parsePath(route, event.pathParameters ?? {}), query: query.output, body: body.output };
};
