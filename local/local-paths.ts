import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemResponse } from '#shared/http/responses.ts';
import { parsePhone } from '#shared/users/phone.ts';
import type { LocalControlPlane } from './control-plane.ts';
import { respond } from './gateway/respond.ts';
import type { Simulators } from './simulators/server.ts';

/** Paths that exist on one machine alone. No part of the contract: they show what on AWS nobody can see. */
const PREFIX = '/_local/';

/** Names by which a browser or a script on this machine calls it. */
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

export const isLocalPath = (url: string): boolean => url.startsWith(PREFIX);

type LocalPaths = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Serves what was "sent" by SMS, the faults of the simulators, and API Gateway's management for the admin CLI. */
export const localPaths = (controlPlane: LocalControlPlane, simulators: Simulators): LocalPaths => {
  const messages = (query: URLSearchParams, requestId: string) => {
    // A plus that was not written as %2B arrives as a space.
    const phone = parsePhone((query.get('phone') ?? '').replace(/^ /, '+'));
    if (phone !== undefined) return json(200, simulators.messages(phone));
    const detail = 'Must be an Iranian mobile number, such as %2B989121234567.';
    return problemResponse('validation_failed', requestId, { errors: [{ parameter: 'phone', detail }] });
  };

  return async (request, response) => {
    const requestId = randomUUID();
    response.setHeader('X-Request-Id', requestId);
    const [path = '', query = ''] = (request.url ?? '').split('?');
    if (!LOCAL_HOST.test(request.headers.host ?? '')) {
      // A page of another site whose name was made to point here: it must not read codes.
      respond(response, problemResponse('not_found', requestId));
    } else if (request.method === 'GET' && path === '/_local/messages') {
      respond(response, messages(new URLSearchParams(query), requestId));
    } else if (path === '/_local/faults') {
      await simulators.handleFaults(request, response);
    } else if (!(await controlPlane.handle(request, response))) {
      respond(response, problemResponse('not_found', requestId));
    }
  };
};

const json = (statusCode: number, body: unknown) => ({
  statusCode,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  body: JSON.stringify(body),
});
