import { AsyncLocalStorage } from 'node:async_hooks';

/** What code far below an endpoint knows of the request it works for. */
export interface RequestContext {
  readonly requestId: string;
  /** The name of the route. */
  readonly operation: string;
  /** Aborts at the request's deadline. */
  readonly signal: AbortSignal;
  /** The calls that the request made so far, in the order of their end. */
  readonly calls: { readonly target: string; readonly ms: number }[];
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `work` as part of a request. */
export const runInRequest = <Result>(context: RequestContext, work: () => Result): Result =>
  storage.run(context, work);

/** The request that the caller works for; undefined outside of one. */
export const currentRequest = (): RequestContext | undefined => storage.getStore();

/**
 * Runs a call to another service and records its milliseconds for the completion line. `call` gets the signal of the request's
 * deadline. `target`: `kms:Sign`, `dynamodb:Query`.
 */
export const timedCall = async <Result>(
  target: string,
  call: (deadline?: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const context = currentRequest();
  if (context === undefined) return call();
  const startedAt = performance.now();
  try {
    return await call(context.signal);
  } finally {
    context.calls.push({ target, ms: Math.round(performance.now() - startedAt) });
  }
};
