import { keyUsage } from '#admin/operations/key-usage.ts';
import { keyNamed } from '#admin/operations/lookup.ts';
import { type AddCommands, addCommand, type CommandResult, type Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { plural } from '../views.ts';

/** The most days that API Gateway returns at once. */
const MAX_DAYS = 90;

const show = async ({ admin }: Session, { days }: { days: number }, text: string): Promise<CommandResult> => {
  const { key_id } = await keyNamed(admin, text);
  const usage = await keyUsage(admin, key_id, days);
  const { used, limit, resetSeconds } = usage.minute;
  const total = usage.days.reduce((sum, { requests }) => sum + requests, 0);
  return {
    json: {
      key_id,
      plan: usage.plan,
      days: usage.days,
      current_minute: { requests: used, limit, resets_in_seconds: resetSeconds },
    },
    text: { bars: usage.days.map((day): [string, number] => [day.day, day.requests]) },
    note:
      `${plural(total, 'request')} of ${key_id} (plan ${usage.plan}) in ${plural(days, 'day')} (UTC). ` +
      `This minute: ${used} of ${limit}. The next minute begins in ${resetSeconds} s.`,
  };
};

/** `usage` */
export const addUsageCommand: AddCommands = (program, act) => {
  addCommand(
    program,
    'usage <key>',
    'show the requests of a key per day and in the current minute',
    'usage key_… --days 30',
  )
    .option('--days <count>', 'the number of days, today included', wholeNumberUpTo(MAX_DAYS), 7)
    .action(act(show));
};
