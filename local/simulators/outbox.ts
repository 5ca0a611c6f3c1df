import type { Clock } from '#shared/clock.ts';

/** A message that a simulated SMS provider has "sent". */
export interface SentMessage {
  /** In E.164. */
  readonly phone: string;
  readonly code: string;
  /** ISO, UTC. */
  readonly sent_at: string;
}

/** What is kept of a long-running service: people look at the newest. */
const MAX_MESSAGES = 10_000;

/** Every message "sent", in memory. */
export const outbox = (clock: Clock) => {
  const messages: SentMessage[] = [];
  const listeners = new Set<(message: SentMessage) => void>();
  return {
    /** `localPhone` as providers take it: `0912…`. */
    deliver(localPhone: string, code: string): void {
      const message = { phone: `+98${localPhone.slice(1)}`, code, sent_at: new Date(clock()).toISOString() };
      messages.push(message);
      if (messages.length > MAX_MESSAGES) messages.shift();
      for (const listener of listeners) listener(message);
    },
    /** Those to one phone, newest first. */
    messagesTo: (phone: string): readonly SentMessage[] =>
      messages.filter((message) => message.phone === phone).reverse(),
    /** Returns the way to stop listening. */
    onMessage(listener: (message: SentMessage) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

export type Outbox = ReturnType<typeof outbox>;
