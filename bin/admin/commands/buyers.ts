import { refusal } from '#admin/operations/refusal.ts';
import { buyerRecordStore } from '#admin/stores/buyer-record-store.ts';
import { parsePhone } from '#shared/users/phone.ts';
import type { AddCommands, Answer, Session } from '../command.ts';
import { tableOf } from '../table.ts';
import { shortTime } from '../times.ts';
import { importFile } from './import-buyers.ts';

const digestsOf = ({ hashes }: Session, text: string) => {
  const phone = parsePhone(text);
  if (phone === undefined)
    throw refusal('bad_input', 'That is not an Iranian mobile number: 0912… or +98912….');
  return hashes.phone(phone);
};

const requireBuyer = async (session: Session, phone: string) => {
  const phoneHashes = await digestsOf(session, phone);
  const buyer = await buyerRecordStore(session.admin.table).find(phoneHashes);
  if (buyer === undefined) throw refusal('buyer_not_found', 'No buyer with that phone is registered.');
  return { phoneHashes, buyer };
};

const show = async (session: Session, _options: object, phone: string): Promise<Answer> => {
  const { buyer } = await requireBuyer(session, phone);
  return {
    json: buyer,
    text: tableOf(['buyer', 'registered (UTC)'], [[buyer.buyer_id, shortTime(buyer.registered_at)]]),
  };
};

const remove = async (session: Session, _options: object, phone: string): Promise<Answer> => {
  const { phoneHashes, buyer } = await requireBuyer(session, phone);
  await session.confirm('Remove this buyer? No seller can link the phone until it is registered again.');
  await buyerRecordStore(session.admin.table).remove(phoneHashes);
  await session.admin.audit.write({
    at: session.admin.now(),
    actor: session.admin.actor,
    action: 'buyer.removed',
    details: { buyer_id: buyer.buyer_id },
  });
  return { json: { ...buyer, removed: true }, text: `Removed ${buyer.buyer_id}.\n` };
};

/** `buyers import|show|remove` */
export const addBuyerCommands: AddCommands = (program, act) => {
  const buyers = program.command('buyers').description('who is registered in the buyer app');
  buyers
    .command('import')
    .argument(
      '<file>',
      'a .csv with a column phone, or a .jsonl with {"phone": "…"} a line; UTF-8, of any size',
    )
    .option('--column <name>', 'the column of a .csv that holds the phone')
    .description('register the phones of a file; go on if it was interrupted')
    .addHelpText(
      'after',
      '\nRunning it twice changes nothing. Lines that cannot be read are written to <file>.rejected.csv.\n' +
        '\nExample:\n  $ npm run admin -- buyers import buyers.csv',
    )
    .action(act(importFile));
  buyers
    .command('show')
    .argument('<phone>', '0912… or +98912…')
    .description('whether a phone is a registered buyer')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- buyers show 09121234567')
    .action(act(show));
  buyers
    .command('remove')
    .argument('<phone>', '0912… or +98912…')
    .description('make a phone unknown again; links that sellers made stay')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- buyers remove 09121234567 --yes')
    .action(act(remove));
};
