import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { problemResponse } from '#shared/http/responses.ts';
import { parsePhone } from '#shared/users/phone.ts';
import { jsonResult, respond } from './gateway/proxy-event.ts';
import type { Serve } from './loopback-server.ts';
import type { Simulators } from './simulators/server.ts';

/** Names by which a browser or a script on this machine calls the service. */
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

/** A browser that opens the base URL is sent to the reference page; any other client gets `not_found`, as on AWS. */
const isBrowserAtRoot = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'GET' && url === '/' && /\btext\/html\b/.test(headers.accept ?? '');

/** Returns whether a path exists on one machine only. Such a path is not part of the contract: it shows data that AWS does not expose. */
export const isLocalPath = (request: IncomingMessage): boolean =>
  (request.url ?? '').startsWith('/_local/') || isBrowserAtRoot(request);

/** The parts of the service that the local paths show. */
export interface LocalParts {
  readonly simulators: Pick<Simulators, 'messages' | 'handleFaults'>;
  /** The demo keys, for the reference page. */
  readonly demo: object;
}

/** Serves the paths of isLocalPath. */
export const localPaths = ({ simulators, demo }: LocalParts): Serve => {
  const messages = (query: string, requestId: string): APIGatewayProxyResult => {
    // A plus that was not written as %2B arrives as a space.
    const phone = parsePhone((new URLSearchParams(query).get('phone') ?? '').replace(/^ /, '+'));
    if (phone !== undefined) return jsonResult(200, simulators.messages(phone));
    const detail = 'Must be an Iranian mobile number, such as %2B989121234567.';
    return problemResponse('validation_failed', requestId, { errors: [{ parameter: 'phone', detail }] });
  };

  const resultOf = (request: IncomingMessage, requestId: string): APIGatewayProxyResult => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    if (path === '/') return { statusCode: 302, headers: { Location: '/docs' }, body: '' };
    if (request.method === 'GET' && path === '/_local/messages') return messages(query, requestId);
    if (request.method === 'GET' && path === '/_local/demo') return jsonResult(200, demo);
    return problemResponse('not_found', requestId);
  };

  return async (request, response) => {
    const requestId = randomUUID();
    response.setHeader('X-Request-Id', requestId);
    // DNS rebinding: a page of another site whose host name resolves to this machine must not read codes.
    const isLocalHost = LOCAL_HOST.test(request.headers.host ?? '');
    if (!isLocalHost) respond(response, problemResponse('not_found', requestId));
    else if (/^\/_local\/faults(?:\?|$)/.test(request.url ?? ''))
      await simulators.handleFaults(request, response);
    else respond(response, resultOf(request, requestId));
  };
};
