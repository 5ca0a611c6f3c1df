import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { jsonText, problemResponse } from '#shared/http/responses.ts';
import { parsePhone } from '#shared/users/phone.ts';
import { respond } from './gateway/proxy-event.ts';
import { readIfThere } from './private-file.ts';
import type { Simulators } from './simulators/server.ts';
import { USAGE_PLANS_PATH } from './usage-plans/endpoint.ts';

/** Paths that exist only on one machine. They are not part of the contract: they show data that AWS does not expose. */
const PREFIX = '/_local/';

/** Names by which a browser or a script on this machine calls the service. */
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A browser that opens the base URL is sent to the reference page; any other client gets `not_found`, as on AWS. */
const isBrowserAtRoot = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'GET' && url === '/' && /\btext\/html\b/.test(headers.accept ?? '');

/** Returns whether the path of a request exists on one machine only. */
export const isLocalPath = (request: IncomingMessage): boolean =>
  (request.url ?? '').startsWith(PREFIX) || isBrowserAtRoot(request);

/** The parts of the service that the local paths show. */
export interface LocalParts {
  readonly serveUsagePlans: Serve;
  readonly simulators: Pick<Simulators, 'messages' | 'handleFaults'>;
  /** The file of the demo keys; it exists while the service is ready. */
  readonly demoFile: string;
}

/**
 * Serves the SMS that were "sent", the demo keys for the reference page, the faults of the simulators, and the usage plans for the
 * admin CLI.
 */
export const localPaths = ({ serveUsagePlans, simulators, demoFile }: LocalParts): Serve => {
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
      // DNS rebinding: a page of another site whose host name resolves to this machine must not read codes.
      respond(response, problemResponse('not_found', requestId));
    } else if (path === '/') {
      respond(response, { statusCode: 302, headers: { Location: '/docs' }, body: '' });
    } else if (request.method === 'GET' && path === '/_local/messages') {
      respond(response, messages(new URLSearchParams(query), requestId));
    } else if (request.method === 'GET' && path === '/_local/demo') {
      const demo = await readIfThere(demoFile);
      respond(
        response,
        demo === undefined ? problemResponse('not_found', requestId) : json(200, JSON.parse(demo)),
      );
    } else if (path === '/_local/faults') {
      await simulators.handleFaults(request, response);
    } else if (path.startsWith(`${USAGE_PLANS_PATH}/`)) {
      await serveUsagePlans(request, response);
    } else {
      respond(response, problemResponse('not_found', requestId));
    }
  };
};

const json = (statusCode: number, body: unknown) => ({
  statusCode,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  body: jsonText(body),
});
