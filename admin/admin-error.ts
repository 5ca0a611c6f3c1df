/** Why a command did not do its work. A closed list: scripts match on it, people read the message. */
export type AdminErrorCode =
  | 'seller_not_found'
  | 'seller_suspended'
  | 'seller_in_use'
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

/** A command that ends without its work. The message is a full sentence for the admin and contains no secret. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
  readonly code: AdminErrorCode;

  constructor(code: AdminErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
