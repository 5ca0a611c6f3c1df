import { readDailyUse, readKeyLimits } from '#admin/operations/key-limits.ts';
import { keyNamed } from '#admin/operations/lookup.ts';
import { type AddCommands, addCommand, type CommandResult, type Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { plural } from '../views.ts';

/** The most days that API Gateway returns at once. */
const MAX_DAYS = 90;

const show = async ({ admin }: Session, { days }: { days: number }, text: string): Promise<CommandResult> => {
  const key = await keyNamed(admin, text);
  const { key_id, plan } = key;
  const [byDay, [minute]] = await Promise.all([readDailyUse(admin, key, days), readKeyLimits(admin, key_id)]);
  const { used = 0, limit = 0, resetSeconds = 0 } = minute ?? {};
  const total = byDay.reduce((sum, { requests }) => sum + requests, 0);
  return {
    json: {
      key_id,
      plan,
      days: byDay,
      current_minute: { requests: used, limit, resets_in_seconds: resetSeconds },
    },
    text: { bars: byDay.map(({ day, requests }): [string, number] => [day, requests]) },
    note:
      `${plural(total, 'request')} of ${key_id} (plan ${plan}) in ${plural(days, 'day')} (UTC). ` +
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
