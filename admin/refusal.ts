/** Why an operation was refused. A closed list: scripts match on it, people read the message. */
export type RefusalCode =
  | 'seller_not_found'
  | 'seller_suspended'
  | 'key_not_found'
  | 'ambiguous'
  | 'key_revoked'
  | 'key_pending'
  | 'too_many_secrets'
  | 'key_quota_reached'
  | 'changed_meanwhile'
  | 'too_early'
  | 'buyer_not_found'
  | 'user_not_found'
  | 'not_confirmed'
  | 'declined'
  | 'not_reachable'
  | 'not_allowed'
  | 'bad_input'
  | 'interrupted';

/** An operation that was refused. The message is a full sentence for the admin and contains no secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** `throw refusal('seller_not_found', 'There is no seller sel_…')` */
export const refusal = (...about: ConstructorParameters<typeof Refusal>): Refusal => new Refusal(...about);
