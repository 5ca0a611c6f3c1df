export { type BuyerLinkingClient, buyerLinking } from './client.ts';
export type { EventPage, EventsOptions, UserEvent } from './events.ts';
export type { Options } from './options.ts';
export { isProblem, type Problem, type ProblemCode, ProblemError } from './problems.ts';
export type { Wait } from './retry.ts';
export type * from './types.ts';
