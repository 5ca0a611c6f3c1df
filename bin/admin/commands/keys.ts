import type { Command } from 'commander';
import { requireKey, requireSeller } from '#admin/administration.ts';
import { assignPlan, setExpiry, setScopes } from '#admin/operations/change-key.ts';
import { type IssuedKey, issueKey } from '#admin/operations/issue-key.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { rotateKey } from '#admin/operations/rotate-key.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import { KEY_QUOTA, KEY_QUOTA_WARNING } from '#admin/usage-plans/port.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import { SCOPES, type Scope } from '#shared/scopes.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { graceOption, parseExpiry, parseExpiryOrNever, parseScopes, planOption } from '../option-parsers.ts';
import { type KeyView, keyDetails, keyTable, readKeyViews } from '../views.ts';
import { addKeyLimitsCommand } from './key-limits.ts';

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
    text: `${keyDetails(view)}\n  ${secret}\n\nThe key is shown only this time: the table stores its hash. Send it to the seller by a secure channel.\n`,
  };
};

const quotaWarning = async ({ admin }: Session): Promise<{ note?: string }> => {
  const count = await admin.usagePlans.countKeys(KEY_QUOTA_WARNING);
  if (count < KEY_QUOTA_WARNING) return {};
  return {
    note: `warning: this AWS account has at least ${KEY_QUOTA_WARNING} API keys in this Region. The quota is ${KEY_QUOTA} and AWS does not raise it.`,
  };
};

interface IssueOptions {
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
  readonly name: string;
  readonly expires?: number;
}

const issue = async (session: Session, options: IssueOptions, sellerId: string): Promise<CommandResult> => {
  const { plan, scopes, name, expires } = options;
  const issued = await issueKey(session.admin, {
    sellerId,
    name,
    plan,
    scopes,
    ...(expires === undefined ? {} : { expiresAt: expires }),
  });
  return { ...(await shownWithSecret(session, issued)), ...(await quotaWarning(session)) };
};

const list = async ({ admin }: Session, _options: object, sellerId: string): Promise<CommandResult> => {
  await requireSeller(admin, sellerId);
  const keys = await readKeyViews(admin, await admin.keys.listOf(sellerId));
  return { json: { keys }, text: keyTable(keys) };
};

const show = async (session: Session, _options: object, keyId: string): Promise<CommandResult> =>
  shown(session, await requireKey(session.admin, keyId));

const assign = async (
  session: Session,
  { plan }: { plan: PlanName },
  keyId: string,
): Promise<CommandResult> => shown(session, await assignPlan(session.admin, keyId, plan));

const scopes = async (
  session: Session,
  { set }: { set: readonly Scope[] },
  keyId: string,
): Promise<CommandResult> => shown(session, await setScopes(session.admin, keyId, set));

const expire = async (
  session: Session,
  { at }: { at: number | 'never' },
  keyId: string,
): Promise<CommandResult> =>
  shown(session, await setExpiry(session.admin, keyId, at === 'never' ? undefined : at));

const rotate = async (
  session: Session,
  { grace }: { grace: number },
  keyId: string,
): Promise<CommandResult> => {
  if (grace === 0) {
    await session.confirm(`Rotate ${keyId} without a grace period? Its old secret becomes invalid at once.`);
  }
  return shownWithSecret(session, await rotateKey(session.admin, keyId, grace));
};

const revoke = async (session: Session, _options: object, keyId: string): Promise<CommandResult> => {
  const { name } = await requireKey(session.admin, keyId);
  await session.confirm(`Revoke ${keyId} (${name}) for good? Every request with it will be refused.`);
  return shown(session, await revokeKey(session.admin, keyId));
};

const withKey = (parent: Command, name: string, description: string, example: string): Command =>
  parent
    .command(name)
    .argument('<key-id>', 'key_…')
    .description(description)
    .addHelpText('after', `\nExample:\n  $ npm run admin -- ${example}`);

/** `keys issue|list|show|limits|assign|scopes|expire|rotate|revoke` */
export const addKeyCommands: AddCommands = (program, act) => {
  const keys = program.command('keys').description('manage the API keys of sellers');
  keys
    .command('issue')
    .argument('<seller>', 'sel_…')
    .description('issue a key and show it, only this time')
    .addOption(planOption())
    .requiredOption('--scopes <scopes>', `comma-separated: ${SCOPES.join(', ')}`, parseScopes)
    .option('--name <name>', 'a name for people', 'key')
    .option('--expires <when>', '90d, 12h or a day (its start, UTC); default: never', parseExpiry)
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run admin -- keys issue sel_… --plan free --scopes users:read,users:write --name server --expires 90d',
    )
    .action(act(issue));
  keys
    .command('list')
    .argument('<seller>', 'sel_…')
    .description('list the keys of a seller, without their secrets')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- keys list sel_…')
    .action(act(list));
  withKey(keys, 'show', 'show a key, without its secret', 'keys show key_…').action(act(show));
  addKeyLimitsCommand(keys, act);
  withKey(keys, 'assign', 'move a key to a usage plan, at once', 'keys assign key_… --plan professional')
    .addOption(planOption())
    .action(act(assign));
  withKey(keys, 'scopes', 'set the scopes of a key, at once', 'keys scopes key_… --set users:read')
    .requiredOption('--set <scopes>', `comma-separated: ${SCOPES.join(', ')}`, parseScopes)
    .action(act(scopes));
  withKey(keys, 'expire', 'set when a key expires', 'keys expire key_… --at 2027-01-31')
    .requiredOption('--at <when>', '90d, 12h, a day (its start, UTC) or never', parseExpiryOrNever)
    .action(act(expire));
  withKey(
    keys,
    'rotate',
    'give a key a new secret and show it, only this time',
    'keys rotate key_… --grace 24h',
  )
    .addOption(graceOption())
    .action(act(rotate));
  withKey(keys, 'revoke', 'revoke a key for good, at once', 'keys revoke key_… --yes').action(act(revoke));
};
