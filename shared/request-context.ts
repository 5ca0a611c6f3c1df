import { AsyncLocalStorage } from 'node:async_hooks';
import { type Deadline, deadlineIn } from './deadline.ts';

/** What code far below an endpoint knows of its request. */
export interface RequestContext {
  readonly requestId: string;
  readonly operation: string;
  /** When the response must be ready. Whatever waits, waits until then at most. */
  readonly deadline: Deadline;
  /** In the order of their end. */
  readonly calls: { readonly target: string; readonly ms: number }[];
}

const storage = new AsyncLocalStorage<RequestContext>();

export const runInRequest = <Result>(context: RequestContext, work: () => Result): Result =>
  storage.run(context, work);

/** Undefined outside of a request. */
export const currentRequest = (): RequestContext | undefined => storage.getStore();

/** What waits outside of a request, as in a command of an admin, does so for this time. */
const OUTSIDE_MS = 30_000;

/** The deadline of the request. Outside of a request: 30 s from now. */
export const currentDeadline = (): Deadline => currentRequest()?.deadline ?? deadlineIn(OUTSIDE_MS);

/** The deadline of the request, or `timeMs` from now if that is earlier. */
export const deadlineWithin = (timeMs: number): Pick<Deadline, 'leftMs'> => {
  const [own, request] = [deadlineIn(timeMs), currentDeadline()];
  return { leftMs: () => Math.min(own.leftMs(), request.leftMs()) };
};

/** Records a call's milliseconds for the completion line. `target`: `kms:Sign`, `dynamodb:Query`. */
export const timedCall = async <Result>(
  target: string,
  call: (signal?: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const context = currentRequest();
  if (context === undefined) return call();
  const startedAt = performance.now();
  try {
    return await call(context.deadline.signal);
  } finally {
    context.calls.push({ target, ms: Math.round(performance.now() - startedAt) });
  }
};
