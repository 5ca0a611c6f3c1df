import { sellerOrKeyNamed } from '#admin/operations/lookup.ts';
import { readMostUsed, readUseOf } from '#admin/operations/usage.ts';
import { KEPT_DAYS } from '#shared/rate-limits/key-limits.ts';
import { type AddCommands, type CommandResult, plural, type Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';

const COUNTS = ['requests', 'refused_links', 'failed_checks', 'sms', 'failed_verifies'] as const;

/** The number of keys that are shown without a subject. */
const MOST_USED = 20;

const showMostUsed = async ({ admin }: Session, days: number): Promise<CommandResult> => {
  const [found, sellers] = await Promise.all([
    readMostUsed(admin, { days, count: MOST_USED }),
    admin.sellers.list(),
  ]);
  const rows = found.map(({ key: { key_id, name, seller_id }, use }) => ({
    key_id,
    name,
    seller_id,
    seller_name: sellers.find((seller) => seller.seller_id === seller_id)?.name ?? null,
    ...use,
  }));
  return {
    json: { keys: rows },
    text: {
      items: 'keys were used',
      rows,
      fields: ['requests', 'sms', 'key_id', 'name', 'seller_id', 'seller_name', ...COUNTS.slice(1)],
      terminalFields: ['requests', 'key_id', 'name', 'seller_name'],
    },
    note: `The ${MOST_USED} keys with most requests in ${plural(days, 'day')}.`,
  };
};

const show = async (
  session: Session,
  subject: string | undefined,
  { days }: { days: number },
): Promise<CommandResult> => {
  if (subject === undefined) return showMostUsed(session, days);
  const { admin } = session;
  const { seller_id, key_id } = await sellerOrKeyNamed(admin, subject);
  const keyIds =
    key_id === undefined ? (await admin.keys.listOf(seller_id)).map((key) => key.key_id) : [key_id];
  const use = await readUseOf(admin, keyIds, days);
  const total = use.data.reduce((sum, { requests }) => sum + requests, 0);
  const whose = key_id ?? `${seller_id} with ${plural(keyIds.length, 'key')}`;
  return {
    json: { seller_id, ...(key_id === undefined ? {} : { key_id }), ...use },
    text: [
      {
        items: 'requests',
        rows: use.data.map(({ hour, ...counts }) => ({
          hour: hour.slice(0, 16).replace('T', ' '),
          ...counts,
        })),
        fields: ['hour', ...COUNTS],
      },
      {
        items: 'paid checks',
        rows: use.paid_checks.map(({ day, count }) => ({ day, paid_checks: count })),
        fields: ['day', 'paid_checks'],
      },
    ],
    note: `${plural(total, 'request')} of ${whose} in ${plural(days, 'day')} (UTC).`,
  };
};

/** `usage` */
export const addUsageCommand: AddCommands = ({ add }) => {
  const description =
    'show what a key or all keys of a seller used; without one, the keys with most requests';
  const examples = ['usage key_…', 'usage "Kaveh Books" --days 1', 'usage'];
  add('usage [of]', description, show, ...examples).option(
    '--days <count>',
    'so many times 24 hours back',
    wholeNumberUpTo(KEPT_DAYS),
    7,
  );
};
