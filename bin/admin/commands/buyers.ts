import type { Command } from 'commander';
import { countsOf, eraseBuyer, readBuyerData } from '#admin/operations/erase-buyer.ts';
import { refusal } from '#admin/operations/refusal.ts';
import { unlockBuyer } from '#admin/operations/unlock-buyer.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { PHONE_HELP, phoneHashesOf } from '../phone-argument.ts';
import { tableOf } from '../table.ts';
import { shortTime } from '../times.ts';
import { importFile } from './import-buyers.ts';

const requireBuyer = async (session: Session, phone: string | undefined) => {
  const phoneHashes = await phoneHashesOf(session, phone);
  const buyer = await adminBuyerStore(session.admin.table).find(phoneHashes);
  if (buyer === undefined) throw refusal('buyer_not_found', 'No buyer with that phone is registered.');
  return { phoneHashes, buyer };
};

const show = async (session: Session, _options: object, phone?: string): Promise<CommandResult> => {
  const { buyer } = await requireBuyer(session, phone);
  return {
    json: buyer,
    text: tableOf(['buyer', 'registered (UTC)'], [[buyer.buyer_id, shortTime(buyer.registered_at)]]),
  };
};

const remove = async (session: Session, _options: object, phone?: string): Promise<CommandResult> => {
  const { admin, confirm } = session;
  const { phoneHashes, buyer } = await requireBuyer(session, phone);
  await confirm('Remove the registration? No seller can link this phone until it is registered again.');
  const record = admin.record({ action: 'buyer.removed', details: { buyer_id: buyer.buyer_id } });
  await adminBuyerStore(admin.table).remove(phoneHashes, record);
  return { json: { ...buyer, removed: true }, text: `Removed ${buyer.buyer_id}.\n` };
};

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const erase = async (session: Session, _options: object, phone?: string): Promise<CommandResult> => {
  const { admin, confirm } = session;
  const phoneHashes = await phoneHashesOf(session, phone);
  const { sellers, users } = countsOf(await readBuyerData(admin, phoneHashes));
  await confirm(
    `Erase this buyer for good? It is linked with ${plural(sellers, 'seller')} as ${plural(users, 'user')}.`,
  );
  const erased = await eraseBuyer(admin, phoneHashes);
  return {
    json: erased,
    text: `Erased ${plural(erased.users, 'user')} of ${plural(erased.sellers, 'seller')}, ${plural(erased.codes, 'code record')} and ${plural(erased.registrations, 'registration')}.\n`,
  };
};

const unlock = async (session: Session, _options: object, phone?: string): Promise<CommandResult> => {
  const unlocked = await unlockBuyer(session.admin, await phoneHashesOf(session, phone));
  return {
    json: { unlocked },
    text:
      unlocked === 0
        ? 'The phone has no failed codes.\n'
        : `Cleared the failed codes of the phone for ${plural(unlocked, 'seller')}.\n`,
  };
};

const withPhone = (parent: Command, name: string, description: string): Command =>
  parent
    .command(name)
    .argument('[phone]', `${PHONE_HELP}; without it, the command asks`)
    .description(description)
    .addHelpText('after', `\nExample:\n  $ npm run admin -- buyers ${name} 09121234567`);

/** `buyers import|show|remove|erase|unlock` */
export const addBuyerCommands: AddCommands = (program, act) => {
  const buyers = program
    .command('buyers')
    .description('manage the buyers that are registered in the buyer app');
  buyers
    .command('import')
    .argument('<file>', 'UTF-8: a .csv with a column phone, or a .jsonl with {"phone": "…"} on each line')
    .option('--column <name>', 'the column of a .csv that contains the phone')
    .description('register the phones of a file')
    .addHelpText(
      'after',
      '\nRunning it again is idempotent. Lines without a valid phone are listed in <file>.rejected.csv.\n' +
        '\nExample:\n  $ npm run admin -- buyers import buyers.csv',
    )
    .action(act(importFile));
  withPhone(buyers, 'show', 'show whether a phone is registered').action(act(show));
  withPhone(buyers, 'remove', 'remove the registration of a phone; links of sellers stay').action(
    act(remove),
  );
  withPhone(
    buyers,
    'erase',
    'erase all data about a phone: registration, codes, users of all sellers',
  ).action(act(erase));
  withPhone(buyers, 'unlock', 'clear the failed codes and locks of a phone, for all sellers').action(
    act(unlock),
  );
};
