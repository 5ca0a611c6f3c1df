import { AsyncLocalStorage } from 'node:async_hooks';

/** What code far below an endpoint knows of its request. */
export interface RequestContext {
  readonly requestId: string;
  readonly operation: string;
  /** Aborts at the request's deadline. */
  readonly signal: AbortSignal;
  /** In the order of their end. */
  readonly calls: { readonly target: string; readonly ms: number }[];
}

const storage = new AsyncLocalStorage<RequestContext>();

export const runInRequest = <Result>(context: RequestContext, work: () => Result): Result =>
  storage.run(context, work);

/** Undefined outside of a request. */
export const currentRequest = (): RequestContext | undefined => storage.getStore();

/** Records a call's milliseconds for the completion line. `target`: `kms:Sign`, `dynamodb:Query`. */
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
