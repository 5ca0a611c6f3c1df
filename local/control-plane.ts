import type { IncomingMessage, ServerResponse } from 'node:http';
import { PLAN_NAMES, type PlanName, usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { badRequest, type ControlPlane, ControlPlaneError, type Reply } from './control-plane/call.ts';
import { LOCAL_PLAN_IDS } from './control-plane/identifiers.ts';
import { OPERATIONS } from './control-plane/operations.ts';
import { openState } from './control-plane/state.ts';

/** Where the local gateway serves API Gateway's management calls: give `<base url><this>` to the SDK as its endpoint. */
export const CONTROL_PLANE_PREFIX = '/_local/aws';

/** The plan a usage id is in, with the token bucket of that plan. */
export interface PlanOfKey {
  readonly usagePlanId: string;
  readonly plan: PlanName;
  /** Tokens a second. */
  readonly rateLimit: number;
  readonly burstLimit: number;
}

export interface ControlPlaneOptions {
  /** The JSON file that keeps the state; undefined: in memory alone. */
  readonly file?: string;
  readonly now?: () => number;
  /** As API Gateway limits CreateApiKey; none if left out, for nobody waits for it on one machine. */
  readonly createKeysPerSecond?: number;
}

/** API Gateway's management on one machine: usage plans, their keys, usage, and the flush of the authorizer's cache. */
export interface LocalControlPlane {
  /** The plan of a usage id; undefined if it is unknown, disabled or in no plan: API Gateway answers 403 then. */
  planOf(usageId: string): PlanOfKey | undefined;
  /** Counts a request that the usage plan let pass. It reaches the file within a second. */
  recordUse(usageId: string): void;
  /** Called at each flush, before the flush is answered. */
  onFlush(listener: () => void): void;
  /** Answers a management call; false if the path is none of ours. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Writes what is not yet in the file. */
  close(): Promise<void>;
}

const USAGE_SAVE_DELAY_MS = 1000;
const MAX_BODY_BYTES = 64 * 1024;

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw badRequest('Request body is too large');
    chunks.push(chunk);
  }
  if (bytes === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw badRequest('Unable to parse the request body');
  }
};

/**
 * Signatures are not verified, for there is no account here; but a call without one is refused. A web page that a developer happens
 * to have open cannot send that header here without asking first, and nobody answers it.
 */
const requireSignature = ({ headers }: IncomingMessage): void => {
  if (!headers.authorization?.startsWith('AWS4-HMAC-SHA256 ')) {
    throw new ControlPlaneError('MissingAuthenticationTokenException', 403, 'Missing Authentication Token');
  }
};

const answer = async (plane: ControlPlane, request: IncomingMessage, url: URL): Promise<Reply> => {
  requireSignature(request);
  const path = url.pathname.slice(CONTROL_PLANE_PREFIX.length);
  for (const operation of OPERATIONS) {
    const match = operation.method === request.method ? operation.path.exec(path) : null;
    if (match === null) continue;
    const ids = match.slice(1).map(decodeURIComponent);
    return operation.run(plane, { ids, query: url.searchParams, body: await readBody(request) });
  }
  throw new ControlPlaneError(
    'UnknownOperationException',
    404,
    'The local control plane does not serve this call',
  );
};

const send = (response: ServerResponse, { status, body }: Reply, errorType?: string): void => {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    ...(errorType === undefined ? {} : { 'x-amzn-ErrorType': errorType }),
  });
  response.end(body === undefined ? '' : JSON.stringify(body));
};

const sendError = (response: ServerResponse, error: unknown): void => {
  const { name, status, message } =
    error instanceof ControlPlaneError
      ? error
      : new ControlPlaneError('InternalServerErrorException', 500, 'The local control plane failed');
  send(response, { status, body: { message } }, name);
};

/** Says of each call whether there is room for it in the running second. */
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

/** Opens the control plane: the state is read from its file, and each change is in the file before it is answered. */
export const openControlPlane = async (options: ControlPlaneOptions = {}): Promise<LocalControlPlane> => {
  const { file, now = Date.now } = options;
  const state = await openState(file);
  const listeners: (() => void)[] = [];
  const plane: ControlPlane = {
    state,
    now,
    mayCreateKey: perSecond(options.createKeysPerSecond ?? Number.POSITIVE_INFINITY, now),
    flush: () => {
      for (const listener of listeners) listener();
    },
  };
  let usageTimer: NodeJS.Timeout | undefined;

  const saveUsageSoon = (): void => {
    usageTimer ??= setTimeout(() => {
      usageTimer = undefined;
      state.save().catch(() => {});
    }, USAGE_SAVE_DELAY_MS).unref();
  };

  return {
    planOf(usageId) {
      const key = state.keys.get(state.keyIdByValue.get(usageId) ?? '');
      if (key === undefined || !key.enabled) return undefined;
      const usagePlanId = state.planOfKey.get(key.id);
      const plan = PLAN_NAMES.find((name) => LOCAL_PLAN_IDS[name] === usagePlanId);
      return usagePlanId === undefined || plan === undefined
        ? undefined
        : { usagePlanId, plan, ...usagePlanThrottle(plan) };
    },

    recordUse(usageId) {
      const keyId = state.keyIdByValue.get(usageId);
      if (keyId === undefined) return;
      const day = new Date(now()).toISOString().slice(0, 10);
      const days = state.usage.get(keyId) ?? new Map<string, number>();
      state.usage.set(keyId, days.set(day, (days.get(day) ?? 0) + 1));
      saveUsageSoon();
    },

    onFlush(listener) {
      listeners.push(listener);
    },

    async handle(request, response) {
      if (!request.url?.startsWith(`${CONTROL_PLANE_PREFIX}/`)) return false;
      try {
        send(response, await answer(plane, request, new URL(request.url, 'http://localhost')));
      } catch (error) {
        sendError(response, error);
      }
      return true;
    },

    async close() {
      clearTimeout(usageTimer);
      await state.save();
    },
  };
};
