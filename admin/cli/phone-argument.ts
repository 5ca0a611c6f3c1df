import { AdminError } from '#admin/admin-error.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { parsePhone } from '#shared/values/phone.ts';
import type { Session } from './command.ts';
import { UsageError } from './errors.ts';

/**
 * Returns the phone that an argument names, in E.164. The argument `-` reads it from stdin and no argument asks for it, which keeps it
 * out of the shell's history and the list of processes. Throws `bad_input` if it is not an Iranian mobile number.
 */
export const requirePhone = async ({ terminal }: Session, argument: string | undefined): Promise<string> => {
  if (argument === undefined && !terminal.isInteractive) {
    throw new UsageError('Name a phone, or - to read it from stdin.');
  }
  const isGiven = argument !== undefined && argument !== '-';
  const text = isGiven ? argument : await terminal.ask(terminal.isInteractive ? 'Phone: ' : '');
  const phone = parsePhone(text);
  if (phone !== undefined) return phone;
  throw new AdminError(
    'bad_input',
    'That is not an Iranian mobile number. It must be like 0912… or +98912….',
  );
};

/** Returns the hash of the phone that an argument names. */
export const phoneHashOf = async (session: Session, argument: string | undefined): Promise<KeyedHash> =>
  session.hashes.phone(await requirePhone(session, argument));
