import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as v from 'valibot';
import { problemResponse } from '#shared/http/responses.ts';
import type { InputError, ProblemCode } from '#shared/problems.ts';
import { FAULT_NAMES, FAULTS } from './faults.ts';
import { jsonFields } from './json-fields.ts';
import type { Simulators } from './server.ts';

/** Says that a provider shall work again. */
const NONE = 'none';
const MAX_BODY_BYTES = 10_000;

/**
 * `GET`: the providers, the fault of each, and every fault there is. `POST { "provider", "fault" }`: switches one, "none" back.
 * Answers problems as the service does, but names what may be sent.
 */
export const faultPanel = (faults: Simulators['faults']) => {
  const providers = faults.list().map(({ provider }) => provider);
  const oneOf = (names: readonly string[]) => `Must be one of: ${names.join(', ')}.`;
  const fault = v.picklist([NONE, ...FAULT_NAMES], oneOf([NONE, ...FAULT_NAMES]));
  const schema = v.strictObject({ provider: v.picklist(providers, oneOf(providers)), fault });

  const standing = () => ({
    providers: faults.list().map(({ provider, fault: set }) => ({ provider, fault: set ?? NONE })),
    faults: { [NONE]: 'The provider works.', ...FAULTS },
  });

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') return json(response, standing());
    if (request.method !== 'POST') return refuse(response, 'not_found');
    // A form of a page on another site cannot send this type without asking first.
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      return refuse(response, 'unsupported_media_type');
    }
    const sent = jsonFields(await bodyOf(request));
    if (sent === undefined) return refuse(response, 'malformed_json');
    const result = v.safeParse(schema, sent);
    if (!result.success) return refuse(response, 'validation_failed', errorsOf(result.issues));
    const { provider, fault: chosen } = result.output;
    await faults.set(provider, chosen === NONE ? undefined : chosen);
    json(response, standing());
  };
};

const errorsOf = (issues: readonly v.BaseIssue<unknown>[]): InputError[] =>
  issues.map(({ path, message }) => ({ pointer: `#/${String(path?.[0]?.key ?? '')}`, detail: message }));

/** Empty, so not JSON, if it is too large. */
const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const json = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
};

const refuse = (response: ServerResponse, code: ProblemCode, errors?: readonly InputError[]): void => {
  const { statusCode, headers, body } = problemResponse(code, randomUUID(), errors && { errors });
  response.writeHead(statusCode, headers as Record<string, string>);
  response.end(body);
};
