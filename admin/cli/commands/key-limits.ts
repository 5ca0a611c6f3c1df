import { readDailyUse, readKeyLimits, setKeyLimits } from '#admin/operations/key-limits.ts';
import { keyNamed } from '#admin/operations/lookup.ts';
import type { KeyLimitName, LimitOverrides } from '#shared/rate-limits/plans.ts';
import type { AddCommands, Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { durationText } from '../times.ts';
import { plural } from '../views.ts';

/** The most days that API Gateway returns at once. */
const MAX_DAYS = 90;

interface LimitsOptions {
  readonly set?: LimitOverrides;
  readonly unset?: readonly KeyLimitName[];
}

/** `keys limits` */
export const limits = async ({ admin }: Session, text: string, { set = {}, unset = [] }: LimitsOptions) => {
  const { key_id } = await keyNamed(admin, text);
  if (Object.keys(set).length + unset.length > 0) await setKeyLimits(admin, key_id, { set, unset });
  const states = (await readKeyLimits(admin, key_id)).map(({ resetSeconds, isOverridden, ...state }) => ({
    ...state,
    resets_in_seconds: resetSeconds,
    overridden: isOverridden,
  }));
  return {
    json: { key_id, limits: states },
    text: {
      items: 'limits',
      rows: states.map((state) => ({ ...state, resets_in: durationText(state.resets_in_seconds) })),
      fields: ['name', 'limit', 'used', 'remaining', 'resets_in', 'overridden'],
    },
  };
};

const usage = async ({ admin, terminal }: Session, text: string, { days }: { days: number }) => {
  const key = await keyNamed(admin, text);
  const { key_id, plan } = key;
  const [use, [minute]] = await Promise.all([readDailyUse(admin, key, days), readKeyLimits(admin, key_id)]);
  const { used = 0, limit = 0, resetSeconds = 0 } = minute ?? {};
  // A terminal shows no days without requests. In a pipe each day has its line.
  const shown = terminal.output.columns === undefined ? use : use.filter(({ requests }) => requests > 0);
  const total = use.reduce((sum, { requests }) => sum + requests, 0);
  return {
    json: {
      key_id,
      plan,
      days: use,
      current_minute: { requests: used, limit, resets_in_seconds: resetSeconds },
    },
    text: { items: 'requests', rows: shown, fields: ['day', 'requests'] },
    note:
      `${plural(total, 'request')} of ${key_id} (plan ${plan}) in ${plural(days, 'day')} (UTC). ` +
      `This minute: ${used} of ${limit}. The next minute begins in ${durationText(resetSeconds)}.`,
  };
};

/** `usage` */
export const addUsageCommand: AddCommands = ({ add }) => {
  const description = 'show the requests of a key per day and in the current minute';
  add('usage <key>', description, usage, 'usage key_… --days 30').option(
    '--days <count>',
    'the number of days, today included',
    wholeNumberUpTo(MAX_DAYS),
    7,
  );
};
