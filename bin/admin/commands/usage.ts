import { keyUsage } from '#admin/operations/key-usage.ts';
import { barChart } from '../bar-chart.ts';
import type { AddCommands, Answer, Session } from '../command.ts';
import { wholeNumberUpTo } from '../whole-number.ts';

/** API Gateway answers for no more days at once. */
const MAX_DAYS = 90;

const show = async ({ admin }: Session, { days }: { days: number }, keyId: string): Promise<Answer> => {
  const usage = await keyUsage(admin, keyId, days);
  const { requests, limit, resetSeconds } = usage.minute;
  return {
    json: {
      key_id: keyId,
      plan: usage.plan,
      days: usage.days,
      current_minute: { requests, limit, resets_in_seconds: resetSeconds },
    },
    text:
      `${keyId}, plan ${usage.plan}: requests a day (UTC)\n\n` +
      barChart(usage.days.map((day): [string, number] => [day.day, day.requests])) +
      `\nThis minute: ${requests} of ${limit}; the next one begins in ${resetSeconds} s.\n`,
  };
};

/** `usage` */
export const addUsageCommand: AddCommands = (program, act) => {
  program
    .command('usage')
    .argument('<key-id>', 'key_…')
    .description('requests of a key by day, and in this minute')
    .option('--days <count>', 'how many days, today included', wholeNumberUpTo(MAX_DAYS), 7)
    .addHelpText('after', '\nExample:\n  $ npm run admin -- usage key_… --days 30')
    .action(act(show));
};
