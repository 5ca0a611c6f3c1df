import { keyUsage } from '#admin/operations/key-usage.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { barChart } from '../table.ts';

/** The most days that API Gateway returns at once. */
const MAX_DAYS = 90;

const show = async (
  { admin }: Session,
  { days }: { days: number },
  keyId: string,
): Promise<CommandResult> => {
  const usage = await keyUsage(admin, keyId, days);
  const { used, limit, resetSeconds } = usage.minute;
  return {
    json: {
      key_id: keyId,
      plan: usage.plan,
      days: usage.days,
      current_minute: { requests: used, limit, resets_in_seconds: resetSeconds },
    },
    text:
      `Requests of ${keyId} (plan ${usage.plan}) per day (UTC)\n\n` +
      barChart(usage.days.map((day): [string, number] => [day.day, day.requests])) +
      `\nThis minute: ${used} of ${limit}. The next minute begins in ${resetSeconds} s.\n`,
  };
};

/** `usage` */
export const addUsageCommand: AddCommands = (program, act) => {
  program
    .command('usage')
    .argument('<key-id>', 'key_…')
    .description('show the requests of a key per day and in the current minute')
    .option('--days <count>', 'the number of days, today included', wholeNumberUpTo(MAX_DAYS), 7)
    .addHelpText('after', '\nExample:\n  $ npm run admin -- usage key_… --days 30')
    .action(act(show));
};
