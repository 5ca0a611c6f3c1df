import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as v from 'valibot';
import { jsonText, problemResponse } from '#shared/http/responses.ts';
import type { InputError, ProblemCode } from '#shared/problems.ts';
import { FAULT_NAMES, FAULTS, type Fault } from './faults.ts';
import { jsonFields } from './simulated-provider.ts';

/** The fault of a provider that works. */
const NONE = 'none';
const MAX_BODY_BYTES = 10_000;

/** The faults of the simulated providers. */
export interface ProviderFaults<Name extends string> {
  /** Sets the fault of a provider, or of one of its operations; undefined removes it. */
  set(provider: Name, fault: Fault | undefined, operation?: string): Promise<void>;
  list(): readonly { readonly provider: Name; readonly fault: Fault | undefined }[];
}

/**
 * `GET` returns the providers with their faults, and every fault with its meaning. `POST { "provider", "fault" }` sets a fault; "none"
 * removes it. Errors have the form of the service's problems, and name the accepted values.
 */
export const faultPanel = <Name extends string>(faults: ProviderFaults<Name>) => {
  const providers = faults.list().map(({ provider }) => provider);
  const oneOf = (names: readonly string[]) => `Must be one of: ${names.join(', ')}.`;
  const fault = v.picklist([NONE, ...FAULT_NAMES], oneOf([NONE, ...FAULT_NAMES]));
  const schema = v.strictObject({ provider: v.picklist(providers, oneOf(providers)), fault });

  const currentFaults = () => ({
    providers: faults.list().map(({ provider, fault: set }) => ({ provider, fault: set ?? NONE })),
    faults: { [NONE]: 'The provider works.', ...FAULTS },
  });

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') return json(response, currentFaults());
    if (request.method !== 'POST') return refuse(response, 'not_found');
    // A form of another site cannot send this type without a CORS preflight.
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      return refuse(response, 'unsupported_media_type');
    }
    const sent = jsonFields(await bodyOf(request));
    if (sent === undefined) return refuse(response, 'malformed_json');
    const result = v.safeParse(schema, sent);
    if (!result.success) return refuse(response, 'validation_failed', errorsOf(result.issues));
    const { provider, fault: chosen } = result.output;
    await faults.set(provider, chosen === NONE ? undefined : chosen);
    json(response, currentFaults());
  };
};

const errorsOf = (issues: readonly v.BaseIssue<unknown>[]): InputError[] =>
  issues.map(({ path, message }) => ({ pointer: `#/${String(path?.[0]?.key ?? '')}`, detail: message }));

/** Returns the body; an empty text, which is not JSON, if it is too large. */
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
  response.end(jsonText(body));
};

const refuse = (response: ServerResponse, code: ProblemCode, errors?: readonly InputError[]): void => {
  const { statusCode, headers, body } = problemResponse(code, randomUUID(), errors && { errors });
  response.writeHead(statusCode, headers as Record<string, string>);
  response.end(body);
};
