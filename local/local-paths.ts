import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { problemResponse } from '#shared/http/responses.ts';
import { parsePhone } from '#shared/values/phone.ts';
import { jsonResult, respond } from './gateway/proxy-event.ts';
import { localPage } from './local-page/page.ts';
import type { JournalEntry } from './local-page/request-journal.ts';
import type { Serve } from './loopback-server.ts';
import { faultState } from './simulators/fault-panel.ts';
import type { Simulators } from './simulators/server.ts';

/** Names by which a browser or a script on this machine calls the service. */
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

/** A browser that opens the base URL is sent to the reference page; any other client gets `not_found`, as on AWS. */
const isBrowserAtRoot = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'GET' && url === '/' && /\btext\/html\b/.test(headers.accept ?? '');

/** Returns whether a path exists on one machine only. Such a path is not part of the contract: it shows data that AWS does not expose. */
export const isLocalPath = (request: IncomingMessage): boolean =>
  /^\/_local(?:[/?]|$)/.test(request.url ?? '') || isBrowserAtRoot(request);

/**
 * Returns whether a request comes from this machine and from no web page but the service's own. DNS rebinding: a page of another site
 * whose host name resolves to this machine must not read codes. A link on another site may still open the local page.
 */
const isOwn = ({ headers }: IncomingMessage): boolean => {
  const { host = '', origin } = headers;
  if (!LOCAL_HOST.test(host)) return false;
  if (origin !== undefined) return origin === `http://${host}`;
  const isFetchOfOtherSite = /^(?:cross-site|same-site)$/.test(String(headers['sec-fetch-site']));
  return !isFetchOfOtherSite || headers['sec-fetch-mode'] === 'navigate';
};

/** The parts of the service that the local paths show and change. */
export interface LocalParts {
  readonly simulators: Pick<Simulators, 'messages' | 'latestMessages' | 'faults' | 'handleFaults'>;
  /** The demo keys, for the reference page. */
  readonly demo: object;
  readonly requests: () => readonly JournalEntry[];
  /** Forgets checks, codes and counts. Resolves with the number of items that held them. */
  readonly reset: () => Promise<number>;
}

const SHOWN_MESSAGES = 50;

/** Serves the paths of isLocalPath. */
export const localPaths = ({ simulators, demo, requests, reset }: LocalParts): Serve => {
  const messages = (query: string, requestId: string): APIGatewayProxyResult => {
    // A plus that was not written as %2B arrives as a space.
    const phone = parsePhone((new URLSearchParams(query).get('phone') ?? '').replace(/^ /, '+'));
    if (phone !== undefined) return jsonResult(200, simulators.messages(phone));
    const detail = 'Must be an Iranian mobile number, such as %2B989121234567.';
    return problemResponse('validation_failed', requestId, { errors: [{ parameter: 'phone', detail }] });
  };

  type Respond = (query: string, requestId: string) => APIGatewayProxyResult | Promise<APIGatewayProxyResult>;

  const responses: Readonly<Record<string, Respond>> = {
    'GET /': () => ({ statusCode: 302, headers: { Location: '/docs' }, body: '' }),
    'GET /_local': () => localPage(faultState(simulators.faults)),
    'GET /_local/messages': messages,
    'GET /_local/demo': () => jsonResult(200, demo),
    'GET /_local/state': () => {
      const { providers } = faultState(simulators.faults);
      const latest = simulators.latestMessages(SHOWN_MESSAGES);
      return jsonResult(200, { messages: latest, requests: requests(), providers });
    },
    'POST /_local/reset': async () => jsonResult(200, { forgotten: await reset() }),
  };

  return async (request, response) => {
    const requestId = randomUUID();
    response.setHeader('X-Request-Id', requestId);
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const notFound = () => problemResponse('not_found', requestId);
    if (!isOwn(request)) return respond(response, notFound());
    if (path === '/_local/faults') return simulators.handleFaults(request, response);
    respond(response, await (responses[`${request.method} ${path}`] ?? notFound)(query, requestId));
  };
};
