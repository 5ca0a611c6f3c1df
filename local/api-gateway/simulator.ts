import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Clock } from '#shared/clock.ts';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { STAGE_NAME } from '../environment.ts';
import { jsonResult } from '../gateway/proxy-event.ts';
import type { Throttle } from '../gateway/throttles.ts';
import { createKey, deleteKey, listKeys, updateKey } from './api-keys.ts';
import { ApiGatewayError, badRequest, notFound, type Operation, type Reply } from './call.ts';
import { API_ID } from './identifiers.ts';
import { openState, type State } from './state.ts';
import { addMember, getMember, getUsage, listMembers, removeMember } from './usage-plans.ts';

export interface SimulatorOptions {
  /** The JSON file that keeps the keys and the plans; in memory if it is left out. */
  readonly file?: string | undefined;
  /** The access key id of the callers. The signature is not checked, so this is the secret. */
  readonly accessKeyId: string;
  readonly clock: Clock;
}

/** API Gateway without AWS: its management calls for the admin operations, its usage plans for the local gateway. */
export interface SimulatedApiGateway {
  /** Responds to a management call of the AWS SDK. A change is in the file before the response. */
  respondTo(request: IncomingMessage): Promise<APIGatewayProxyResult>;
  /** Returns the throttle of the key's plan; undefined if the usage id is unknown, disabled or in no plan: API Gateway returns 403 then. */
  throttleOf(usageId: string): Throttle | undefined;
  /** Counts a request. The count reaches the file within a second. */
  recordUse(usageId: string): void;
  /** Calls the listener at each flush of the authorizer cache, before the response of the flush. */
  onFlush(listener: () => void): void;
  /** Writes the counts that are not yet in the file. */
  close(): Promise<void>;
}

const USAGE_SAVE_DELAY_MS = 1000;

/** Opens the simulator. Throws a StartupError if the file is damaged. */
export const openApiGateway = async (options: SimulatorOptions): Promise<SimulatedApiGateway> => {
  const { file, accessKeyId, clock } = options;
  const state = await openState(file);
  const keyOf = (usageId: string) => state.keys.values().find(({ value }) => value === usageId);
  const listeners: (() => void)[] = [];
  const operations = operationsWith(() => {
    for (const listener of listeners) listener();
  });
  let saveTimer: NodeJS.Timeout | undefined;
  const saveSoon = (): void => {
    saveTimer ??= setTimeout(() => {
      saveTimer = undefined;
      state.save().catch(() => {});
    }, USAGE_SAVE_DELAY_MS).unref();
  };
  return {
    async respondTo(request) {
      try {
        requireAccessKey(request, accessKeyId);
        const { status, body } = await run(operations, state, request, Math.floor(clock() / 1000));
        if (request.method !== 'GET') await state.save();
        return body === undefined ? { statusCode: status, body: '' } : jsonResult(status, body);
      } catch (error) {
        return failed(error);
      }
    },
    throttleOf(usageId) {
      const key = keyOf(usageId);
      return key?.enabled && key.plan !== undefined ? usagePlanThrottle(key.plan) : undefined;
    },
    recordUse(usageId) {
      const key = keyOf(usageId);
      if (key === undefined) return;
      const day = new Date(clock()).toISOString().slice(0, 10);
      const days = state.usage.get(key.id) ?? {};
      state.usage.set(key.id, { ...days, [day]: (days[day] ?? 0) + 1 });
      saveSoon();
    },
    onFlush: (listener) => {
      listeners.push(listener);
    },
    async close() {
      clearTimeout(saveTimer);
      await state.save();
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
  ['GET', /^\/usageplans\/([^/]+)\/usage$/, getUsage],
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

const requireAccessKey = ({ headers }: IncomingMessage, accessKeyId: string): void => {
  const [, given] = /^AWS4-HMAC-SHA256 Credential=([^/]*)\//.exec(headers.authorization ?? '') ?? [];
  if (given === undefined) {
    throw new ApiGatewayError('MissingAuthenticationTokenException', 403, 'Missing Authentication Token');
  }
  if (given !== accessKeyId) {
    const message = 'The security token included in the request is invalid.';
    throw new ApiGatewayError('UnrecognizedClientException', 403, message);
  }
};

const run = async (
  operations: Operations,
  state: State,
  request: IncomingMessage,
  nowSeconds: number,
): Promise<Reply> => {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost');
  for (const [method, path, operation] of operations) {
    const match = method === request.method ? path.exec(pathname) : null;
    if (match === null) continue;
    return operation(state, {
      ids: match.slice(1).map(decodeURIComponent),
      query,
      body: parseBody(await text(request)),
      nowSeconds,
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
