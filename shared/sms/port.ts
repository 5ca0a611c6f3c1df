/** The port to the SMS providers. Each provider has one file beside this. */
export interface SmsSender {
  /**
   * Sends a one-time code to a phone (E.164). Resolves with the name of the provider that has accepted the message. Never sends twice:
   * no provider documents an idempotency key. Throws ProviderUnavailable; its `delivery` says whether the message was possibly sent.
   */
  sendCode(phone: string, code: string, signal: AbortSignal): Promise<{ readonly provider: string }>;
}

/** The name of the operation in errors, logs and metrics. */
export const SEND_CODE = 'send_code';
