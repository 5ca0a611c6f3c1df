import { type Command, InvalidArgumentError, Option } from 'commander';
import { requireKey, requireSeller } from '#admin/administration.ts';
import { assignPlan, setExpiry, setScopes } from '#admin/operations/change-key.ts';
import { type IssuedKey, issueKey } from '#admin/operations/issue-key.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { rotateKey } from '#admin/operations/rotate-key.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import { KEY_QUOTA, KEY_QUOTA_WARNING } from '#admin/usage-plans/port.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import { SCOPES, type Scope } from '#shared/scopes.ts';
import type { AddCommands, Answer, Session } from '../command.ts';
import { readKeyViews } from '../read-keys.ts';
import { parseDuration, parseMoment } from '../times.ts';
import { type KeyView, keyDetails, keyTable } from '../views.ts';

const MAX_GRACE_SECONDS = 30 * 86_400;

const parseScopes = (text: string): Scope[] =>
  text.split(',').map((name) => {
    const scope = SCOPES.find((known) => known === name.trim());
    if (scope === undefined) throw new InvalidArgumentError(`The scopes are ${SCOPES.join(', ')}.`);
    return scope;
  });

const parseEnd = (text: string): number => {
  const end = parseMoment(text, Date.now());
  if (end === undefined)
    throw new InvalidArgumentError('Say 90d, 12h, 2027-01-31 or 2027-01-31T12:00Z (UTC).');
  return end;
};

const parseEndOrNever = (text: string): number | 'never' => (text === 'never' ? text : parseEnd(text));

const parseGrace = (text: string): number => {
  const seconds = parseDuration(text);
  if (seconds === undefined || seconds > MAX_GRACE_SECONDS) {
    throw new InvalidArgumentError('Say 0, 30m, 24h or 7d; 30d at most.');
  }
  return seconds;
};

const viewOf = async ({ admin }: Session, key: ApiKey): Promise<KeyView> => {
  const [view] = await readKeyViews(admin, [key]);
  return view as KeyView;
};

const shown = async (session: Session, key: ApiKey): Promise<Answer> => {
  const view = await viewOf(session, key);
  return { json: view, text: keyDetails(view) };
};

/** The only two answers that hold a secret: the moment it is made. */
const shownOnce = async (session: Session, { key, secret }: IssuedKey): Promise<Answer> => {
  const view = await viewOf(session, key);
  return {
    json: { ...view, key: secret },
    text: `${keyDetails(view)}\n  ${secret}\n\nThis is the only time the key is shown. Hand it over by a safe way; only its hash is kept.\n`,
  };
};

const quotaWarning = async ({ admin }: Session): Promise<{ note?: string }> => {
  const count = await admin.usagePlans.countKeys(KEY_QUOTA_WARNING);
  if (count < KEY_QUOTA_WARNING) return {};
  return {
    note: `warning: this AWS account holds ${KEY_QUOTA_WARNING} API keys or more in this Region; API Gateway takes ${KEY_QUOTA} and raises it for nobody.`,
  };
};

interface IssueOptions {
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
  readonly name: string;
  readonly expires?: number;
}

const issue = async (session: Session, options: IssueOptions, sellerId: string): Promise<Answer> => {
  const { plan, scopes, name, expires } = options;
  const issued = await issueKey(session.admin, {
    sellerId,
    name,
    plan,
    scopes,
    ...(expires === undefined ? {} : { expiresAt: expires }),
  });
  return { ...(await shownOnce(session, issued)), ...(await quotaWarning(session)) };
};

const list = async ({ admin }: Session, _options: object, sellerId: string): Promise<Answer> => {
  await requireSeller(admin, sellerId);
  const keys = await readKeyViews(admin, await admin.keys.listOf(sellerId));
  return { json: { keys }, text: keyTable(keys) };
};

const show = async (session: Session, _options: object, keyId: string): Promise<Answer> =>
  shown(session, await requireKey(session.admin, keyId));

const assign = async (session: Session, { plan }: { plan: PlanName }, keyId: string): Promise<Answer> =>
  shown(session, await assignPlan(session.admin, keyId, plan));

const scopes = async (session: Session, { set }: { set: readonly Scope[] }, keyId: string): Promise<Answer> =>
  shown(session, await setScopes(session.admin, keyId, set));

const expire = async (session: Session, { at }: { at: number | 'never' }, keyId: string): Promise<Answer> =>
  shown(session, await setExpiry(session.admin, keyId, at === 'never' ? undefined : at));

const rotate = async (session: Session, { grace }: { grace: number }, keyId: string): Promise<Answer> => {
  if (grace === 0) await session.confirm(`Rotate ${keyId} without a grace? Its old secret ends at once.`);
  return shownOnce(session, await rotateKey(session.admin, keyId, grace));
};

const revoke = async (session: Session, _options: object, keyId: string): Promise<Answer> => {
  const { name } = await requireKey(session.admin, keyId);
  await session.confirm(`Revoke ${keyId} (${name}) for good? Every request with it will be refused.`);
  return shown(session, await revokeKey(session.admin, keyId));
};

const planOption = () =>
  new Option('--plan <plan>', 'the usage plan').choices([...PLAN_NAMES]).makeOptionMandatory();

const withKey = (parent: Command, name: string, description: string, example: string): Command =>
  parent
    .command(name)
    .argument('<key-id>', 'key_…')
    .description(description)
    .addHelpText('after', `\nExample:\n  $ npm run admin -- ${example}`);

/** `keys issue|list|show|assign|scopes|expire|rotate|revoke` */
export const addKeyCommands: AddCommands = (program, act) => {
  const keys = program.command('keys').description('what a seller calls the API with');
  keys
    .command('issue')
    .argument('<seller>', 'its id, sel_…')
    .description('make a key and show it, this once')
    .addOption(planOption())
    .requiredOption('--scopes <scopes>', `comma-separated: ${SCOPES.join(', ')}`, parseScopes)
    .option('--name <name>', 'for people', 'key')
    .option('--expires <when>', '90d, 12h or a day (its first second, UTC); never if left out', parseEnd)
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run admin -- keys issue sel_… --plan free --scopes users:read,users:write --name server --expires 90d',
    )
    .action(act(issue));
  keys
    .command('list')
    .argument('<seller>', 'its id, sel_…')
    .description('the keys of a seller, never their secrets')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- keys list sel_…')
    .action(act(list));
  withKey(keys, 'show', 'one key, never its secret', 'keys show key_…').action(act(show));
  withKey(
    keys,
    'assign',
    'move a key to another usage plan, at once',
    'keys assign key_… --plan professional',
  )
    .addOption(planOption())
    .action(act(assign));
  withKey(keys, 'scopes', 'set what a key may do, at once', 'keys scopes key_… --set users:read')
    .requiredOption('--set <scopes>', `comma-separated: ${SCOPES.join(', ')}`, parseScopes)
    .action(act(scopes));
  withKey(keys, 'expire', 'set when a key ends', 'keys expire key_… --at 2027-01-31')
    .requiredOption('--at <when>', '90d, 12h, a day (its first second, UTC) or never', parseEndOrNever)
    .action(act(expire));
  withKey(keys, 'rotate', 'give a key a new secret and show it, this once', 'keys rotate key_… --grace 24h')
    .option('--grace <time>', 'how long the old secret still works: 0, 30m, 24h, 7d', parseGrace, 86_400)
    .action(act(rotate));
  withKey(keys, 'revoke', 'refuse a key for good, at once', 'keys revoke key_… --yes').action(act(revoke));
};
