import { outcomeOfPhone } from '#shared/providers/test-identities.ts';
import { type FaultReplies, failureOf, type SimulatedReply } from './simulated-provider.ts';

/** A message that a simulated SMS provider has accepted. */
interface SentMessage {
  /** In E.164. */
  readonly phone: string;
  readonly code: string;
  /** The name of the provider. */
  readonly provider: string;
  /** The name or the number of the template at the provider. */
  readonly template: string | number;
}

/** The accepted messages, in memory. */
export const outbox = () => {
  const messages: SentMessage[] = [];
  return {
    /**
     * Delivers a message, unless the phone is a test phone whose messages are not sent. Its phone is in the local form, `0912…`. Returns
     * the failure of a test phone.
     */
    deliver(sent: SentMessage, replies: FaultReplies): SimulatedReply | undefined {
      const phone = `+98${sent.phone.slice(1)}`;
      const outcome = outcomeOfPhone(phone);
      const failure = failureOf(outcome, replies);
      if (failure !== undefined && outcome !== 'lost_response') return failure;
      messages.push({ ...sent, phone });
      return failure;
    },
    /** Returns the messages to one phone, the newest first. */
    messagesTo: (phone: string): readonly SentMessage[] =>
      messages.filter((message) => message.phone === phone).reverse(),
  };
};

export type Outbox = ReturnType<typeof outbox>;
