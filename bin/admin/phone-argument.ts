import { refusal } from '#admin/operations/refusal.ts';
import { parsePhone } from '#shared/users/phone.ts';
import type { Session } from './command.ts';
import { UsageError } from './errors.ts';

/** How `--help` describes a phone. */
export const PHONE_HELP = '0912… or +98912…, or - to read it from stdin';

const readText = ({ terminal }: Session, argument: string | undefined): Promise<string> => {
  if (argument === undefined && !terminal.isInteractive) {
    throw new UsageError('Name a phone, or - to read it from stdin.');
  }
  return terminal.ask(terminal.isInteractive ? 'Phone: ' : '');
};

/**
 * Returns the hashes of the phone that an argument names, under every key still in use. The argument `-` reads it from stdin, which
 * keeps it out of the shell's history and the list of processes. Throws `bad_input` if it is not an Iranian mobile number.
 */
export const phoneHashesOf = async (
  session: Session,
  argument: string | undefined,
): Promise<readonly string[]> => {
  const isGiven = argument !== undefined && argument !== '-';
  const phone = parsePhone((isGiven ? argument : await readText(session, argument)).trim());
  if (phone === undefined) {
    throw refusal('bad_input', 'That is not an Iranian mobile number. It must be like 0912… or +98912….');
  }
  return session.hashes.phone(phone);
};
