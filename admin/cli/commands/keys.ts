import { isDeepStrictEqual } from 'node:util';
import type { Administration } from '#admin/administration.ts';
import { assignPlan, renameKey, setExpiry, setScopes } from '#admin/operations/change-key.ts';
import { confirmKey } from '#admin/operations/confirm-key.ts';
import { requireName } from '#admin/operations/create-seller.ts';
import { type IssuedKey, issueKey } from '#admin/operations/issue-key.ts';
import {
  containing,
  keyNamed,
  keyOfSecret,
  keysOfAllSellers,
  sellerNamed,
} from '#admin/operations/lookup.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { rotateKey } from '#admin/operations/rotate-key.ts';
import { KEY_QUOTA, KEY_QUOTA_WARNING } from '#admin/usage-plans/port.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { KEY_LIMIT_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import { SCOPES, type Scope } from '#shared/scopes.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import {
  collectLimit,
  collectLimitName,
  graceOption,
  parseExpiry,
  parseExpiryOrNever,
  parseScopes,
  planOption,
} from '../option-parsers.ts';
import { askHidden } from '../terminal.ts';
import { type KeyView, keyDetails, keyTable, readKeyViews } from '../views.ts';
import { limits } from './key-limits.ts';

const viewOf = async ({ admin }: Session, key: ApiKey): Promise<KeyView> => {
  const [view] = await readKeyViews(admin, [key]);
  return view as KeyView;
};

const shown = async (session: Session, key: ApiKey): Promise<CommandResult> => {
  const view = await viewOf(session, key);
  return { json: view, text: keyDetails(view) };
};

/** The result of `issue` and `rotate`, the only ones with a secret. */
const shownWithSecret = async (session: Session, { key, secret }: IssuedKey): Promise<CommandResult> => {
  const view = await viewOf(session, key);
  return {
    json: { ...view, key: secret },
    text: [...keyDetails(view), `${secret}\n`],
    note: 'The key is shown only this time: the table stores its hash. Send it to the seller by a secure channel.',
  };
};

const quotaWarning = async ({ admin }: Session): Promise<string | undefined> => {
  const count = await admin.usagePlans.countKeys(KEY_QUOTA_WARNING);
  if (count < KEY_QUOTA_WARNING) return undefined;
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
  const found = stored.filter(
    ({ key_id, name, expires_at = Number.POSITIVE_INFINITY }) =>
      isWanted(name, key_id) && (expiring === undefined || expires_at <= expiring),
  );
  const keys = await readKeyViews(admin, found);
  const shown =
    expiring === undefined
      ? keys
      : keys
          .filter(({ status }) => status === 'active')
          .sort((a, b) => String(a.expires_at).localeCompare(String(b.expires_at)));
  return { json: { keys: shown }, text: keyTable(shown, seller === undefined) };
};

const alreadyNote = ({ key_id }: ApiKey): string => `${key_id} was like this already. Nothing was changed.`;

/** Returns a command that changes a key and shows it, and says if there was nothing to change. */
const changing =
  <Options extends object>(
    change: (admin: Administration, keyId: string, options: Options) => Promise<ApiKey>,
  ) =>
  async (session: Session, text: string, options: Options): Promise<CommandResult> => {
    const before = await keyNamed(session.admin, text);
    const after = await change(session.admin, before.key_id, options);
    const note = isDeepStrictEqual(before, after) ? alreadyNote(before) : undefined;
    return { ...(await shown(session, after)), note };
  };

const show = async (session: Session, text: string) => shown(session, await keyNamed(session.admin, text));

const find = async (session: Session) => {
  const { isInteractive } = session.terminal;
  const secret = isInteractive ? await askHidden('Secret: ') : await session.terminal.ask('');
  return shown(session, await keyOfSecret(session.admin, secret.trim()));
};

const assign = changing((admin, keyId, { plan }: { plan: PlanName }) => assignPlan(admin, keyId, plan));

const scopes = changing((admin, keyId, { set }: { set: readonly Scope[] }) => setScopes(admin, keyId, set));

const expire = changing((admin, keyId, { at }: { at: number | 'never' }) =>
  setExpiry(admin, keyId, at === 'never' ? undefined : at),
);

const rename = async (session: Session, text: string, name: string) =>
  changing((admin, keyId) => renameKey(admin, keyId, requireName(name)))(session, text, {});

const rotate = async (session: Session, text: string, { grace }: { grace: number }) => {
  const { key_id, name } = await keyNamed(session.admin, text);
  if (grace === 0) {
    await session.confirm(
      `Rotate ${key_id} (${name}) without a grace period? Its old secret becomes invalid at once.`,
    );
  }
  return shownWithSecret(session, await rotateKey(session.admin, key_id, grace));
};

const confirmRestored = changing((admin, keyId) => confirmKey(admin, keyId));

const revoke = async (session: Session, text: string) => {
  const key = await keyNamed(session.admin, text);
  const { key_id, name, status } = key;
  if (status !== 'revoked') {
    await session.confirm(`Revoke ${key_id} (${name}) for good? Every request with it will be refused.`);
  }
  const note = status === 'revoked' ? `${key_id} was revoked already.` : undefined;
  return { ...(await shown(session, await revokeKey(session.admin, key_id))), note };
};

const SCOPES_HELP = `comma-separated: ${SCOPES.join(', ')}`;

const ISSUE_EXAMPLE = 'keys issue sel_… --plan free --scopes users:read --expires 90d';
const LIMITS_EXAMPLES = ['keys limits key_…', 'keys limits key_… --set sms-per-hour=10000'];

/** `keys issue|list|show|find|rename|limits|assign|scopes|expire|rotate|confirm|revoke` */
export const addKeyCommands: AddCommands = ({ group }) => {
  const add = group('keys', 'manage the API keys of sellers');
  add('issue <seller>', 'issue a key and show it, only this time', issue, ISSUE_EXAMPLE)
    .addOption(planOption())
    .requiredOption('--scopes <scopes>', SCOPES_HELP, parseScopes)
    .option('--name <name>', 'a name for people', 'key')
    .option('--expires <when>', '90d, 12h or a day (its start, UTC); default: never', parseExpiry);
  const listHelp = 'list the keys of a seller, or of all sellers, without their secrets';
  add('list [seller]', listHelp, list, 'keys list sel_…', 'keys list --expiring 30d')
    .option('--expiring <when>', 'only active keys that expire until then: 30d, 12h or a day', parseExpiry)
    .option('--search <text>', 'only those whose name or id contains this');
  add('show <key>', 'show a key, without its secret', show, 'keys show key_…', 'keys show Kd3I');
  add('find', 'show the key of a secret; asks for it, or reads stdin', find, 'keys find < leaked.txt');
  const limitsHelp = 'show the state of the limits of a key, or set them for this key';
  add('limits <key>', limitsHelp, limits, ...LIMITS_EXAMPLES)
    .option('--set <name=number>', `a limit of this key: ${KEY_LIMIT_NAMES.join(', ')}`, collectLimit)
    .option('--unset <name>', "use the plan's number for this limit again", collectLimitName)
    .addHelpText('after', '\nBoth options can be repeated. The limit per minute follows from the plan.');
  add('rename <key> <name>', 'give a key another name', rename, 'keys rename key_… server');
  const assignExample = 'keys assign key_… --plan professional';
  add('assign <key>', 'move a key to a usage plan, at once', assign, assignExample).addOption(planOption());
  add(
    'scopes <key>',
    'set the scopes of a key, at once',
    scopes,
    'keys scopes key_… --set users:read',
  ).requiredOption('--set <scopes>', SCOPES_HELP, parseScopes);
  add('expire <key>', 'set when a key expires', expire, 'keys expire key_… --at 2027-01-31').requiredOption(
    '--at <when>',
    '90d, 12h, a day (its start, UTC) or never',
    parseExpiryOrNever,
  );
  const rotateHelp = 'give a key a new secret and show it, only this time';
  add('rotate <key>', rotateHelp, rotate, 'keys rotate key_… --grace 24h').addOption(graceOption());
  const confirmHelp = 'make a key valid that a restore brought back as pending';
  add('confirm <key>', confirmHelp, confirmRestored, 'keys confirm key_…');
  add('revoke <key>', 'revoke a key for good, at once', revoke, 'keys revoke key_… --yes');
};
