import { isDeepStrictEqual } from 'node:util';
import { Option } from 'commander';
import {
  assignPlan,
  renameKey,
  requireActive,
  revokeKey,
  rotateKey,
  setExpiry,
  setScopes,
} from '#admin/operations/change-key.ts';
import {
  type IssuedKey,
  issueKey,
  requireFutureExpiry,
  requireGrantable,
} from '#admin/operations/issue-key.ts';
import { readKeyLimits, readLastUsedDays, setKeyLimits, withLimits } from '#admin/operations/key-limits.ts';
import {
  containing,
  keyNamed,
  keyOfSecret,
  keysOfAllSellers,
  sellerNamed,
} from '#admin/operations/lookup.ts';
import { lossesOf, readPeakUse } from '#admin/operations/losses.ts';
import { requireName } from '#admin/operations/sellers.ts';
import { KEY_QUOTA, KEY_QUOTA_WARNING } from '#admin/usage-plans/port.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { validSecrets } from '#shared/api-keys/secret.ts';
import { KEY_LIMIT_NAMES, type KeyLimitName, type LimitOverrides } from '#shared/rate-limits/key-limits.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import { SCOPES, type Scope } from '#shared/scopes.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { collectLimit, isoOf, parseExpiry, parseGrace, parseScopes } from '../option-parsers.ts';
import { askHidden } from '../terminal.ts';
import { keyDetails, keyTable, readKeyViews } from '../views.ts';

const shown = async ({ admin }: Session, key: ApiKey): Promise<CommandResult> => {
  const views = await readKeyViews(admin, [key]);
  return { json: views[0], text: views.flatMap(keyDetails) };
};

/** The result of `issue` and `rotate`, the only ones with a secret. */
const shownWithSecret = async ({ admin }: Session, { key, secret }: IssuedKey): Promise<CommandResult> => {
  const views = await readKeyViews(admin, [key]);
  return {
    json: { ...views[0], key: secret },
    text: [...views.flatMap(keyDetails), `${secret}\n`],
    note: 'The key is shown only this time: the table stores its hash. Send it to the seller by a secure channel.',
  };
};

const quotaWarning = async ({ admin }: Session): Promise<string | undefined> => {
  const count = await admin.usagePlans?.countKeys(KEY_QUOTA_WARNING);
  if (count === undefined || count < KEY_QUOTA_WARNING) return undefined;
  return `this AWS account has at least ${KEY_QUOTA_WARNING} API keys in this Region. The quota is ${KEY_QUOTA} and AWS does not raise it.`;
};

interface IssueOptions {
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
  readonly name: string;
  readonly expires?: number;
}

const issue = async (session: Session, seller: string, options: IssueOptions): Promise<CommandResult> => {
  const { plan, scopes, name, expires: expiresAt } = options;
  const { seller_id: sellerId } = await sellerNamed(session.admin, seller);
  const issued = await issueKey(session.admin, { sellerId, name, plan, scopes, expiresAt });
  return { ...(await shownWithSecret(session, issued)), warning: await quotaWarning(session) };
};

interface ListOptions {
  /** Epoch seconds. */
  readonly expiring?: number;
  readonly search?: string;
}

/** Lists the keys of a seller, or of all sellers. With `--expiring`, the active ones that expire until then, the first one first. */
const list = async ({ admin }: Session, seller: string | undefined, { expiring, search }: ListOptions) => {
  const stored =
    seller === undefined
      ? await keysOfAllSellers(admin)
      : await admin.keys.listOf((await sellerNamed(admin, seller)).seller_id);
  const isWanted = containing(search);
  const found = stored.filter(({ key_id, name }) => isWanted(name, key_id));
  const views = await readKeyViews(admin, found);
  const until = isoOf(expiring);
  const keys =
    until === null
      ? views
      : views
          .filter(
            ({ status, expires_at }) => status === 'active' && expires_at !== null && expires_at <= until,
          )
          .sort((a, b) => String(a.expires_at).localeCompare(String(b.expires_at)));
  const options = { ofSeveral: seller === undefined, isByExpiry: expiring !== undefined };
  return { json: { keys }, text: keyTable(keys, options) };
};

/** A changed key, and whether there was nothing to change. `note`: what to know of the change. */
const changed = async (
  session: Session,
  { before, after, note }: { before: ApiKey; after: ApiKey; note?: string },
): Promise<CommandResult> => {
  const already = `${after.key_id} was like this already. Nothing was changed.`;
  return { ...(await shown(session, after)), note: isDeepStrictEqual(before, after) ? already : note };
};

/**
 * Asks before a change that takes something from a key in use: one with a request in the last 35 days. Returns a sentence on what it takes;
 * '' for nothing. Throws `key_revoked` or `key_pending`: nobody is asked about what is refused anyway.
 */
const requireLosses = async (
  { admin, requireYes }: Session,
  before: ApiKey,
  after: ApiKey,
): Promise<string> => {
  const { key_id, name } = requireActive(before);
  const { registryIsSandbox } = admin;
  const peaks = await readPeakUse(admin, key_id);
  const losses = lossesOf({ before, after }, { peaks, registryIsSandbox }).join('; ');
  if (losses === '') return '';
  const [lastUsed] = await readLastUsedDays(admin, [key_id]);
  if (typeof lastUsed === 'string')
    await requireYes(`Take from ${key_id} (${name}), which was last used on ${lastUsed}: ${losses}?`);
  return `Taken from ${key_id}: ${losses}.`;
};

/** API Gateway keeps the decision on a key so long. */
const EFFECT = 'The change takes effect within 5 minutes.';

const show = async (session: Session, text: string) => shown(session, await keyNamed(session.admin, text));

const find = async (session: Session) => {
  const { isInteractive } = session.terminal;
  const secret = isInteractive ? await askHidden('Secret: ') : await session.terminal.ask('');
  return shown(session, await keyOfSecret(session.admin, secret.trim()));
};

const assign = async (session: Session, text: string, { plan }: { plan: PlanName }) => {
  const before = await keyNamed(session.admin, text);
  const taken = await requireLosses(session, before, { ...before, plan });
  const after = await assignPlan(session.admin, before.key_id, plan);
  return changed(session, { before, after, note: `${taken} ${EFFECT}`.trim() });
};

const scopes = async (session: Session, text: string, { set }: { set: readonly Scope[] }) => {
  const before = await keyNamed(session.admin, text);
  requireGrantable(set);
  const taken = await requireLosses(session, before, { ...before, scopes: [...set] });
  const after = await setScopes(session.admin, before.key_id, set);
  return changed(session, { before, after, note: `${taken} ${EFFECT}`.trim() });
};

const expire = async (session: Session, text: string, { at }: { at: number | 'never' }) => {
  const before = await keyNamed(session.admin, text);
  const expires_at = at === 'never' ? undefined : at;
  requireFutureExpiry(session.admin, expires_at);
  const taken = await requireLosses(session, before, { ...before, expires_at });
  const after = await setExpiry(session.admin, before.key_id, expires_at);
  // An earlier end is exact to the second.
  return changed(session, { before, after, note: taken || EFFECT });
};

const rename = async (session: Session, text: string, name: string) => {
  const before = await keyNamed(session.admin, text);
  return changed(session, {
    before,
    after: await renameKey(session.admin, before.key_id, requireName(name)),
  });
};

const rotate = async (session: Session, text: string, { grace }: { grace: number }) => {
  const key = await keyNamed(session.admin, text);
  const { key_id, name } = key;
  if (grace === 0) {
    const { length } = validSecrets(key, Math.floor(session.admin.clock() / 1000));
    const ended =
      length === 1 ? 'Its valid secret becomes invalid' : `Its ${length} valid secrets become invalid`;
    await session.requireYes(`Rotate ${key_id} (${name}) without a grace period? ${ended} at once.`);
  }
  return shownWithSecret(session, await rotateKey(session.admin, key_id, grace));
};

const revoke = async (session: Session, text: string) => {
  const before = await keyNamed(session.admin, text);
  const { key_id, name, status } = before;
  if (status !== 'revoked') {
    await session.requireYes(`Revoke ${key_id} (${name}) for good? Every request with it will be refused.`);
  }
  return changed(session, { before, after: await revokeKey(session.admin, key_id) });
};

interface LimitsOptions {
  readonly set?: LimitOverrides;
  readonly unset?: readonly KeyLimitName[];
}

/** Formats a duration of at most a day as `22 s`, `40 min` or `10 h 40 min`, rounded up. */
export const durationText = (seconds: number): string => {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

const limits = async (session: Session, text: string, { set = {}, unset = [] }: LimitsOptions) => {
  const { admin } = session;
  const before = await keyNamed(admin, text);
  const { key_id } = before;
  const isChange = Object.keys(set).length + unset.length > 0;
  const change = { set, unset };
  const taken = isChange ? await requireLosses(session, before, withLimits(before, change)) : '';
  if (isChange) await setKeyLimits(admin, key_id, change);
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
    note: isChange ? `${taken} ${EFFECT}`.trim() : '',
  };
};

const SCOPES_HELP = `comma-separated: ${SCOPES.join(', ')}`;
const EXPIRING_HELP = 'only active keys that expire until then, the first one first: 30d, 12h or a day';
const PLAN = new Option('--plan <plan>', 'the usage plan').choices([...PLAN_NAMES]).makeOptionMandatory();
const GRACE = 'how long the old secret stays valid: 0, 30m, 24h, 7d';
const AT = '90d, 12h, a day (its start, UTC) or never';

/** `keys issue|list|show|find|rename|limits|assign|scopes|expire|rotate|revoke` */
export const addKeyCommands: AddCommands = ({ group }) => {
  const add = group('keys', 'manage the API keys of sellers');
  const issued = 'keys issue sel_… --plan free --scopes users:read --expires 90d';
  add('issue <seller>', 'issue a key and show it, only this time', issue, issued)
    .addOption(PLAN)
    .requiredOption('--scopes <scopes>', SCOPES_HELP, parseScopes)
    .option('--name <name>', 'a name for people', 'key')
    .option('--expires <when>', '90d, 12h or a day (its start, UTC); default: never', parseExpiry);
  add('list [seller]', 'list the keys of a seller, or of all sellers, without their secrets', list)
    .addOption(new Option('--expiring [when]', EXPIRING_HELP).preset('14d').argParser(parseExpiry))
    .option('--search <text>', 'only those whose name or id contains this');
  add('show <key>', 'show a key, without its secret', show, 'keys show key_…', 'keys show Kd3I');
  add('find', 'show the key of a secret; asks for it, or reads stdin', find, 'keys find < leaked.txt');
  const limitsHelp = 'show the state of the limits of a key, or set them for this key';
  const unset = new Option('--unset <name...>', "use the plan's number for this limit again");
  add('limits <key>', limitsHelp, limits, 'keys limits key_… --set sms-per-hour=10000')
    .option('--set <name=number>', `a limit of this key: ${KEY_LIMIT_NAMES.join(', ')}`, collectLimit)
    .addOption(unset.choices(KEY_LIMIT_NAMES))
    .addHelpText('after', '\nBoth options can be repeated. The limit per minute follows from the plan.');
  add('rename <key> <name>', 'give a key another name', rename);
  add('assign <key>', 'move a key to a usage plan', assign).addOption(PLAN);
  const scopesExample = 'keys scopes key_… --set users:read,users:write';
  const scopesCommand = add('scopes <key>', 'set the scopes of a key', scopes, scopesExample);
  scopesCommand.requiredOption('--set <scopes>', SCOPES_HELP, parseScopes);
  const expireCommand = add('expire <key>', 'set when a key expires', expire);
  expireCommand.requiredOption('--at <when>', AT, (text) => (text === 'never' ? text : parseExpiry(text)));
  add('rotate <key>', 'give a key a new secret and show it, only this time', rotate).addOption(
    new Option('--grace <time>', GRACE).argParser(parseGrace).default(86_400, '24h'),
  );
  add('revoke <key>', 'revoke a key for good, at once', revoke);
};
