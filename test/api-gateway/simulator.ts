import type { IncomingMessage, ServerResponse } from 'node:http';
import { badRequest, type Reply, type Simulator, SimulatorError } from './call.ts';
import { OPERATIONS } from './operations.ts';
import { emptyState, type SimulatorState } from './state.ts';

export interface SimulatorOptions {
  readonly now?: () => number;
  /** The limit of CreateApiKey; API Gateway takes 5 a second. Unlimited if it is left out. */
  readonly createKeysPerSecond?: number;
}

/** The management API of API Gateway in memory, by its wire format: API keys, usage plans, usage, flush of the authorizer cache. */
export interface SimulatedApiGateway {
  readonly state: SimulatorState;
  /** Counts a request of the key with this value on the current day. */
  recordUse(value: string): void;
  flushes(): number;
  /** Handles one management call. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  if (chunks.length === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw badRequest('Unable to parse the request body');
  }
};

const requireSignature = ({ headers }: IncomingMessage): void => {
  if (!headers.authorization?.startsWith('AWS4-HMAC-SHA256 ')) {
    throw new SimulatorError('MissingAuthenticationTokenException', 403, 'Missing Authentication Token');
  }
};

const handle = async (simulator: Simulator, request: IncomingMessage): Promise<Reply> => {
  requireSignature(request);
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  for (const operation of OPERATIONS) {
    const match = operation.method === request.method ? operation.path.exec(pathname) : null;
    if (match === null) continue;
    const ids = match.slice(1).map(decodeURIComponent);
    return operation.run(simulator, { ids, query: searchParams, body: await readBody(request) });
  }
  throw new SimulatorError('UnknownOperationException', 404, 'The simulator does not serve this call');
};

const send = (response: ServerResponse, { status, body }: Reply, errorType?: string): void => {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    ...(errorType === undefined ? {} : { 'x-amzn-ErrorType': errorType }),
  });
  response.end(body === undefined ? '' : JSON.stringify(body));
};

/** Returns a function that returns whether one more call fits into the current second. */
const perSecond = (limit: number, now: () => number): (() => boolean) => {
  let second = 0;
  let count = 0;
  return () => {
    const current = Math.floor(now() / 1000);
    count = current === second ? count + 1 : 1;
    second = current;
    return count <= limit;
  };
};

export const simulatedApiGateway = (options: SimulatorOptions = {}): SimulatedApiGateway => {
  const { now = Date.now, createKeysPerSecond = Number.POSITIVE_INFINITY } = options;
  const state = emptyState();
  let flushes = 0;
  const simulator: Simulator = {
    state,
    now,
    mayCreateKey: perSecond(createKeysPerSecond, now),
    flush: () => {
      flushes += 1;
    },
  };
  return {
    state,
    flushes: () => flushes,
    recordUse(value) {
      const keyId = state.keyIdByValue.get(value) ?? '';
      const day = new Date(now()).toISOString().slice(0, 10);
      const days = state.usage.get(keyId) ?? new Map<string, number>();
      state.usage.set(keyId, days.set(day, (days.get(day) ?? 0) + 1));
    },
    async handle(request, response) {
      try {
        send(response, await handle(simulator, request));
      } catch (error) {
        const known = error instanceof SimulatorError ? error : undefined;
        const { status = 500, name = 'InternalServerErrorException', message = '' } = known ?? {};
        send(response, { status, body: { message } }, name);
      }
    },
  };
};
