export { type BuyerLinkingClient, buyerLinking } from './client.ts';
export type { EventPage, EventsStart, UserEvent } from './events.ts';
export type { Call, Options } from './options.ts';
export { type InputError, isProblem, type Problem, type ProblemCode, ProblemError } from './problems.ts';
export type { Wait } from './retry.ts';
export type * from './types.ts';
