/** An SMS provider, as this service sees it. One file a provider beside this. */
export interface SmsSender {
  /**
   * Sends a one-time code to a phone (E.164). Resolves when the provider has taken the message. Never sends twice by itself:
   * no provider documents an idempotency key. Throws ProviderUnavailable; its `refused` says whether the message surely did not go.
   */
  sendCode(phone: string, code: string, signal: AbortSignal): Promise<void>;
}

/** The operation of an SMS provider, as errors, logs and metrics name it. */
export const SEND_CODE = 'send_code';
