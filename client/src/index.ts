export { type BuyerLinkingClient, buyerLinking } from './client.ts';
export type { EventPage, EventsOptions, UserEvent } from './events.ts';
export type { Options } from './options.ts';
export { isProblem, type Problem, type ProblemCode, ProblemError } from './problems.ts';
export type { Wait } from './retry.ts';
export type {
  AccessToken,
  CodeSent,
  EventQuery,
  Key,
  KeyUsage,
  LinkedUser,
  NewSecret,
  NewUser,
  SendCodeOptions,
  User,
  UserPage,
  UserQuery,
  UsersAfter,
  UserUpdate,
} from './types.ts';
