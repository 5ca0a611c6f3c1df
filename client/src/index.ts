export {
  type AccessToken,
  type BuyerLinkingClient,
  buyerLinking,
  type CodeSent,
  type EventQuery,
  type Key,
  type KeyUsage,
  type LinkedUser,
  type NewSecret,
  type NewUser,
  type Options,
  type SendCodeOptions,
  type User,
  type UserPage,
  type UserQuery,
  type UsersAfter,
  type UserUpdate,
} from './client.ts';
export type { EventPage, EventsOptions, UserEvent } from './events.ts';
export { isProblem, type Problem, type ProblemCode, ProblemError } from './problems.ts';
export type { Wait } from './retry.ts';
