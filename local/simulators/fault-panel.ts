import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as v from 'valibot';
import { problemResponse } from '#shared/http/responses.ts';
import type { InputError, ProblemCode } from '#shared/problems.ts';
import { jsonResult, respond } from '../gateway/proxy-event.ts';
import { readBody } from '../gateway/received-request.ts';
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

/** Returns the providers with their faults, and every fault with its meaning. */
export const faultState = <Name extends string>(faults: Pick<ProviderFaults<Name>, 'list'>) => ({
  providers: faults.list().map(({ provider, fault: set }) => ({ provider, fault: set ?? NONE })),
  faults: { [NONE]: 'The provider works.', ...FAULTS },
});

/**
 * `GET` returns the providers with their faults, and every fault with its meaning. `POST { "provider", "fault" }` sets a fault; "none"
 * removes it. Errors have the form of the service's problems, and name the accepted values.
 */
export const faultPanel = <Name extends string>(faults: ProviderFaults<Name>) => {
  const currentFaults = () => faultState(faults);
  const providers = faults.list().map(({ provider }) => provider);
  const oneOf = (names: readonly string[]) => `Must be one of: ${names.join(', ')}.`;
  const fault = v.picklist([NONE, ...FAULT_NAMES], oneOf([NONE, ...FAULT_NAMES]));
  const schema = v.strictObject({ provider: v.picklist(providers, oneOf(providers)), fault });

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') return respond(response, jsonResult(200, currentFaults()));
    if (request.method !== 'POST') return refuse(response, 'not_found');
    // A form of another site cannot send this type without a CORS preflight.
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      return refuse(response, 'unsupported_media_type');
    }
    const body = await readBody(request, MAX_BODY_BYTES);
    const sent = body === 'too_large' ? undefined : jsonFields(body.toString());
    if (sent === undefined) return refuse(response, 'malformed_json');
    const result = v.safeParse(schema, sent);
    if (!result.success) return refuse(response, 'validation_failed', errorsOf(result.issues));
    const { provider, fault: chosen } = result.output;
    await faults.set(provider, chosen === NONE ? undefined : chosen);
    respond(response, jsonResult(200, currentFaults()));
  };
};

const errorsOf = (issues: readonly v.BaseIssue<unknown>[]): InputError[] =>
  issues.map(({ path, message }) => ({ pointer: `#/${String(path?.[0]?.key ?? '')}`, detail: message }));

const refuse = (response: ServerResponse, code: ProblemCode, errors?: readonly InputError[]): void =>
  respond(response, problemResponse(code, randomUUID(), { errors }));
