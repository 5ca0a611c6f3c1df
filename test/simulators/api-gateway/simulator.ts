import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { STAGE_NAME } from '#local/environment.ts';
import { jsonResult } from '#local/gateway/proxy-event.ts';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { createKey, deleteKey, listKeys, updateKey } from './api-keys.ts';
import { ApiGatewayError, badRequest, notFound, type Operation, type Reply } from './call.ts';
import { API_ID } from './identifiers.ts';
import type { State, StoredKey } from './state.ts';
import { addMember, getMember, listMembers, removeMember } from './usage-plans.ts';

export interface SimulatorOptions {
  /** The keys of the account at first. */
  readonly keys?: readonly StoredKey[];
}

/** API Gateway without AWS: its management calls for the admin operations, its usage plans for a test. */
export interface SimulatedApiGateway {
  /** Responds to a management call of the AWS SDK. */
  respondTo(request: IncomingMessage): Promise<APIGatewayProxyResult>;
  /** Returns the throttle of the key's plan; undefined if the usage id is unknown, disabled or in no plan: API Gateway returns 403 then. */
  throttleOf(usageId: string): ReturnType<typeof usagePlanThrottle> | undefined;
  /** Calls the listener at each flush of the authorizer cache, before the response of the flush. */
  onFlush(listener: () => void): void;
}

/** Opens the simulator. */
export const openApiGateway = ({ keys = [] }: SimulatorOptions = {}): SimulatedApiGateway => {
  const state: State = { keys: new Map(keys.map((key) => [key.id, key])) };
  const keyOf = (usageId: string) => state.keys.values().find(({ value }) => value === usageId);
  const listeners: (() => void)[] = [];
  const operations = operationsWith(() => {
    for (const listener of listeners) listener();
  });
  return {
    async respondTo(request) {
      try {
        const { status, body } = await run(operations, state, request);
        return body === undefined ? { statusCode: status, body: '' } : jsonResult(status, body);
      } catch (error) {
        return failed(error);
      }
    },
    throttleOf(usageId) {
      const key = keyOf(usageId);
      return key?.enabled && key.plan !== undefined ? usagePlanThrottle(key.plan) : undefined;
    },
    onFlush: (listener) => {
      listeners.push(listener);
    },
  };
};

/** Method, path with its ids in parentheses, operation. */
type Operations = readonly (readonly [method: string, path: RegExp, operation: Operation])[];

/** Every call that admin/usage-plans/api-gateway.ts makes. */
const operationsWith = (flush: () => void): Operations => [
  ['POST', /^\/apikeys$/, createKey],
  ['GET', /^\/apikeys$/, listKeys],
  ['PATCH', /^\/apikeys\/([^/]+)$/, updateKey],
  ['DELETE', /^\/apikeys\/([^/]+)$/, deleteKey],
  ['POST', /^\/usageplans\/([^/]+)\/keys$/, addMember],
  ['GET', /^\/usageplans\/([^/]+)\/keys$/, listMembers],
  ['GET', /^\/usageplans\/([^/]+)\/keys\/([^/]+)$/, getMember],
  ['DELETE', /^\/usageplans\/([^/]+)\/keys\/([^/]+)$/, removeMember],
  [
    'DELETE',
    /^\/restapis\/([^/]+)\/stages\/([^/]+)\/cache\/authorizers$/,
    (_state, { ids: [apiId, stageName] }) => {
      if (apiId !== API_ID || stageName !== STAGE_NAME) throw notFound('Invalid stage identifier specified');
      flush();
      return { status: 202 };
    },
  ],
];

const run = async (operations: Operations, state: State, request: IncomingMessage): Promise<Reply> => {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost');
  for (const [method, path, operation] of operations) {
    const match = method === request.method ? path.exec(pathname) : null;
    if (match === null) continue;
    return operation(state, {
      ids: match.slice(1).map(decodeURIComponent),
      query,
      body: parseBody(await text(request)),
    });
  }
  throw new ApiGatewayError('UnknownOperationException', 404, 'The simulator does not serve this call.');
};

const parseBody = (body: string): unknown => {
  try {
    return body === '' ? undefined : JSON.parse(body);
  } catch {
    throw badRequest('Unable to parse the request body');
  }
};

const failed = (error: unknown): APIGatewayProxyResult => {
  const known = error instanceof ApiGatewayError ? error : undefined;
  const { status = 500, name = 'InternalServerErrorException', message = '' } = known ?? {};
  const { headers, ...result } = jsonResult(status, { message });
  return { ...result, headers: { ...headers, 'x-amzn-ErrorType': name } };
};
