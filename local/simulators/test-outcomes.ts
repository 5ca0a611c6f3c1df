import { outcomeOfPerson, outcomeOfPhone } from '#shared/providers/test-identities.ts';
import type { ApiFault } from './faults.ts';
import type { SimulatedReply } from './simulated-provider.ts';

/** The response of a provider for each fault, and for a person or phone that it rejects. */
export type FaultReplies = Readonly<Record<ApiFault | 'rejected', SimulatedReply>>;

/** Returns the failure of an inquiry about a test person; undefined for any other person, and for a verdict. */
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

/** The connection breaks after the message was sent. */
export const LOST_RESPONSE: SimulatedReply = { wireFault: 'reset' };

/** Returns the failure of a message to a test phone; undefined for any other phone. */
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
    case 'lost_response':
      return LOST_RESPONSE;
    default:
      return undefined;
  }
};
