import type { WordedFault } from './faults.ts';
import type { SimulatedReply } from './simulated-provider.ts';
import { outcomeOfPerson, outcomeOfPhone } from './test-identities.ts';

/** What a provider says of each fault, and of a person or phone that it does not take. */
export type FaultReplies = Readonly<Record<WordedFault | 'rejected', SimulatedReply>>;

/** What a test person meets in place of an answer about it; undefined for anybody else. */
export const failureOfPerson = (nationalId: string, replies: FaultReplies): SimulatedReply | undefined => {
  const outcome = outcomeOfPerson(nationalId);
  switch (outcome) {
    case 'quota':
    case 'balance':
    case 'upstream_down':
    case 'undecided':
    case 'rejected':
      return replies[outcome];
    case 'slow':
      return { wireFault: 'slow_headers' };
    case 'malformed':
      return { wireFault: 'html_instead_of_json' };
    default:
      return undefined;
  }
};

/** The connection breaks after the message has gone out. */
export const LOST_ANSWER: SimulatedReply = { wireFault: 'reset' };

/** What a test phone meets in place of the confirmation; undefined for any other. */
export const failureOfPhone = (phone: string, replies: FaultReplies): SimulatedReply | undefined => {
  const outcome = outcomeOfPhone(phone);
  switch (outcome) {
    case 'rejected':
    case 'balance':
    case 'upstream_down':
      return replies[outcome];
    case 'slow':
      return { wireFault: 'slow_headers' };
    case 'malformed':
      return { wireFault: 'html_instead_of_json' };
    case 'lost_answer':
      return LOST_ANSWER;
    default:
      return undefined;
  }
};
