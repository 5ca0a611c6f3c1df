import type { Deadline } from '#shared/deadline.ts';
import type { RequestContext } from '#shared/request-context.ts';

/** A deadline that never comes, except for what `own` says. */
export const endless = (own: Partial<Deadline> = {}): Deadline => ({
  leftMs: () => Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
  ...own,
});

/** The context of a request to create-user. */
export const requestUntil = (deadline = endless()): RequestContext => ({
  requestId: 'req-1',
  operation: 'create-user',
  deadline,
  calls: [],
});
