import { basename } from 'node:path';
import { AdminError } from '#admin/admin-error.ts';
import { countsOf, eraseBuyer, readBuyerData, unlockBuyer } from '#admin/operations/buyers.ts';
import { describeBuyer } from '#admin/operations/describe-buyer.ts';
import { type ImportCounts, importBuyers } from '#admin/operations/import-buyers.ts';
import { countLines, layoutOf } from '#admin/operations/phone-file.ts';
import { adminBuyerStore, type Buyer } from '#admin/stores/buyer-store.ts';
import { redact } from '#shared/log.ts';
import { type AddCommands, type CommandResult, plural, type Session } from '../command.ts';
import { phoneHashOf, requirePhone } from '../phone-argument.ts';
import { withProgress } from '../progress.ts';

const requireBuyer = async (session: Session, phone: string | undefined) => {
  const phoneHash = await phoneHashOf(session, phone);
  const buyer = await adminBuyerStore(session.admin.table).find(phoneHash);
  if (buyer === undefined) throw new AdminError('buyer_not_found', 'No buyer with that phone is registered.');
  return { phoneHash, buyer };
};

const shown = (buyer: Buyer): CommandResult => ({
  json: buyer,
  text: { items: 'buyers', rows: [buyer], fields: ['buyer_id', 'registered_at'] },
});

const register = async (session: Session, text: string | undefined): Promise<CommandResult> => {
  const { admin, hashes } = session;
  const phone = await requirePhone(session, text);
  const [phoneHash, buyerId] = await Promise.all([hashes.phone(phone), hashes.buyerId(phone)]);
  const { buyer, isNew } = await adminBuyerStore(admin.table).register(
    { phone: phoneHash, buyerId },
    admin.record({ action: 'buyer.added', details: { buyer_id: buyerId } }),
  );
  return { ...shown(buyer), note: isNew ? undefined : 'The phone was registered already.' };
};

/** A time as tables show it, in a column of texts. */
const shortTime = (text: string | null): string => (text ?? '–').replace(/T(\d\d:\d\d).*/, ' $1');

const show = async (session: Session, phone: string | undefined): Promise<CommandResult> => {
  const found = await describeBuyer(session.admin, await phoneHashOf(session, phone));
  if (found === undefined) throw new AdminError('buyer_not_found', 'Nothing is stored about this phone.');
  const { codes, links, ended_links, ...buyer } = found;
  const isLocked = codes.some(({ locked_until }) => locked_until !== null);
  const sent = codes.map((code) => ({
    ...code,
    seller_name: code.seller_name ?? code.seller_id,
    locked_until: shortTime(code.locked_until),
  }));
  const ofSeller = {
    fields: ['seller_id', 'seller_name', 'user_id', 'display_name', 'created_at', 'checked_at'],
  };
  return {
    json: found,
    text: [
      { rows: [buyer] },
      {
        items: 'one-time codes in 24 hours',
        rows: sent,
        fields: [
          'seller_id',
          'seller_name',
          'sends',
          'last_sent_at',
          'failed_codes',
          'tries',
          'locked_until',
        ],
        terminalFields: ['seller_name', 'sends', 'last_sent_at', 'failed_codes', 'tries', 'locked_until'],
      },
      { items: 'links', rows: links, ...ofSeller, terminalFields: ['seller_name', 'user_id', 'checked_at'] },
      ...(ended_links.length === 0
        ? []
        : [
            {
              items: 'ended links',
              rows: ended_links,
              fields: ['seller_id', 'seller_name', 'ended_at'],
              terminalFields: ['seller_name', 'ended_at'],
            },
          ]),
    ],
    note: isLocked ? 'buyers unlock ends the locks of this phone, for all sellers.' : undefined,
  };
};

const remove = async (session: Session, phone: string | undefined): Promise<CommandResult> => {
  const { admin, requireYes } = session;
  const { phoneHash, buyer } = await requireBuyer(session, phone);
  await requireYes('Remove the registration? No seller can link this phone until it is registered again.');
  const record = admin.record({ action: 'buyer.removed', details: { buyer_id: buyer.buyer_id } });
  await adminBuyerStore(admin.table).remove(phoneHash, record);
  return { json: { ...buyer, removed: true }, text: `Removed ${buyer.buyer_id}.\n` };
};

const erase = async (session: Session, phone: string | undefined): Promise<CommandResult> => {
  const { admin, requireYes } = session;
  const phoneHash = await phoneHashOf(session, phone);
  const { sellers, users } = countsOf(await readBuyerData(admin, phoneHash));
  await requireYes(
    `Erase this buyer for good? It is linked with ${plural(sellers, 'seller')} as ${plural(users, 'user')}.`,
  );
  const erased = await eraseBuyer(admin, phoneHash);
  return {
    json: erased,
    text: `Erased ${plural(erased.users, 'user')} of ${plural(erased.sellers, 'seller')}, ${plural(erased.codes, 'code record')} and ${plural(erased.registrations, 'registration')}.\n`,
  };
};

const unlock = async (session: Session, phone: string | undefined): Promise<CommandResult> => {
  const unlocked = await unlockBuyer(session.admin, await phoneHashOf(session, phone));
  return {
    json: { unlocked },
    text:
      unlocked === 0
        ? 'The phone has no failed codes.\n'
        : `Cleared the failed codes of the phone for ${plural(unlocked, 'seller')}.\n`,
  };
};

/** An import is many transactions, so its start and its end have a record each. */
const record = ({ admin }: Session, action: string, path: string, counts?: ImportCounts): Promise<void> =>
  admin.audit.write(admin.record({ action, details: { file: redact(basename(path)), ...counts } }));

/** `buyers import` */
const importFile = async (
  session: Session,
  path: string,
  { column }: { column?: string },
): Promise<CommandResult> => {
  const { admin, hashes, terminal } = session;
  const rejectedPath = `${path}.rejected.csv`;
  const layout = await layoutOf(path, column);
  const total = await countLines(layout);
  const startedAt = performance.now();
  await record(session, 'buyers.import_started', path);
  const options = { layout, rejectedPath, table: admin.table, hashes, registeredAt: admin.now() };
  const { counts, isStopped } = await withProgress(terminal, 'lines', ({ signal, onProgress }) =>
    importBuyers({ ...options, signal, onProgress: ({ lines }) => onProgress(lines, total) }),
  );
  await record(session, isStopped ? 'buyers.import_interrupted' : 'buyers.imported', path, counts);
  if (isStopped) {
    const again = 'Run the command again: buyers that are registered already stay as they are.';
    throw new AdminError('interrupted', `Stopped after ${plural(counts.lines, 'line')}. ${again}`);
  }
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const rejected = counts.rejected === 0 ? null : rejectedPath;
  const notes = [
    ...(counts.erased === 0 ? [] : ['Erased buyers are left out: buyers add registers one again.']),
    ...(rejected === null ? [] : [`The rejected lines are in ${rejected}, with the reasons.`]),
  ];
  return {
    json: { file: path, ...counts, rejected_file: rejected, seconds },
    text: { rows: [{ ...counts, seconds }] },
    note: notes.join(' '),
    exitCode: rejected === null ? 0 : 1,
  };
};

/** `buyers import|add|show|unlock|remove|erase` */
export const addBuyerCommands: AddCommands = ({ group }) => {
  const add = group('buyers', 'manage the buyers that are registered in the buyer app');
  const imports = ['buyers import phones.txt', 'buyers import customers.csv --column mobile'];
  add('import <file>', 'register the phones of a file', importFile, ...imports)
    .option('--column <name>', 'the column of a CSV file with the phones, by the name in its first line')
    .addHelpText(
      'after',
      [
        '',
        'Lines without a valid phone are written to <file>.rejected.csv, with reasons;',
        'the exit code is 1 then. Correct that file and import it. Buyers that are',
        'registered already stay as they are, so the command can be run again. Buyers who',
        'were erased in the last 35 days are left out.',
      ].join('\n'),
    );
  add('add [phone]', 'register a phone', register, 'buyers add - < phone.txt');
  add('show [phone]', 'show what is stored about a phone: registration, codes and locks, links', show);
  add('unlock [phone]', 'clear the failed codes and locks of a phone, for all sellers', unlock);
  add('remove [phone]', 'remove the registration of a phone; links of sellers stay', remove);
  add('erase [phone]', 'erase all data about a phone: registration, codes, users of all sellers', erase);
};
