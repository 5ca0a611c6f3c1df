import { readKeyLimits, setKeyLimits } from '#admin/operations/key-limits.ts';
import { keyNamed } from '#admin/operations/lookup.ts';
import { KEY_LIMIT_NAMES, type KeyLimitName, type LimitOverrides } from '#shared/rate-limits/plans.ts';
import { type AddCommands, addCommand, type CommandResult, type Session } from '../command.ts';
import { collectLimit, collectLimitName } from '../option-parsers.ts';
import { tableOf } from '../table.ts';

interface LimitsOptions {
  readonly set?: LimitOverrides;
  readonly unset?: readonly KeyLimitName[];
}

const limits = async (
  { admin }: Session,
  { set = {}, unset = [] }: LimitsOptions,
  text: string,
): Promise<CommandResult> => {
  const { key_id: keyId } = await keyNamed(admin, text);
  if (Object.keys(set).length + unset.length > 0) await setKeyLimits(admin, keyId, { set, unset });
  const usages = await readKeyLimits(admin, keyId);
  return {
    json: {
      key_id: keyId,
      limits: usages.map(({ name, limit, used, remaining, resetSeconds, isOverridden }) => ({
        name,
        limit,
        used,
        remaining,
        resets_in_seconds: resetSeconds,
        overridden: isOverridden,
      })),
    },
    text: tableOf(
      ['limit', 'maximum', 'used', 'remaining', 'resets in'],
      usages.map(({ name, limit, used, remaining, resetSeconds, isOverridden }) => [
        name,
        isOverridden ? `${limit.toLocaleString('en')} (set for this key)` : limit.toLocaleString('en'),
        used.toLocaleString('en'),
        remaining.toLocaleString('en'),
        `${resetSeconds} s`,
      ]),
    ),
  };
};

/** `keys limits` */
export const addKeyLimitsCommand: AddCommands = (keys, act) => {
  addCommand(
    keys,
    'limits <key>',
    'show the state of the limits of a key, or set them for this key',
    'keys limits key_…',
    'keys limits key_… --set sms-per-hour=10000',
  )
    .option('--set <name=number>', `a limit of this key: ${KEY_LIMIT_NAMES.join(', ')}`, collectLimit)
    .option('--unset <name>', "use the plan's number for this limit again", collectLimitName)
    .addHelpText('after', '\nBoth options can be repeated. The limit per minute follows from the plan.')
    .action(act(limits));
};
