/** The port to the SMS providers. Each provider has one file beside this. */
import type { Locale, SellerTemplates } from './templates.ts';

/** A one-time code to send. */
export interface CodeMessage {
  /** In E.164. */
  readonly phone: string;
  readonly code: string;
  readonly locale: Locale;
  /** The templates that the seller has of its own. The stage's are in the provider secret. */
  readonly templates: SellerTemplates;
}

export interface SmsSender {
  /**
   * Sends a one-time code to a phone. Resolves with the name of the provider that has accepted the message. Never sends twice: no
   * provider documents an idempotency key. Throws ProviderUnavailable; its `delivery` says whether the message was possibly sent.
   */
  sendCode(message: CodeMessage, signal: AbortSignal): Promise<{ readonly provider: string }>;
}

/** The name of the operation in errors, logs and metrics. */
export const SEND_CODE = 'send_code';
