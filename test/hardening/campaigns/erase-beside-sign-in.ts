import { setTimeout as pause } from 'node:timers/promises';
import { eraseBuyer, readBuyerData } from '#admin/operations/buyers.ts';
import { localAdministration } from '#local/administration.ts';
import { redirectLog } from '#shared/log.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import type { Campaign } from './campaign.ts';
import { functionOn, RIGHT } from './code-timing.ts';

const RACES = 200;
/** Either of the two begins up to so much later. */
const LARGEST_DELAY_MS = 30;

/** An admin erases a buyer while the buyer app verifies a right code: afterwards nobody is registered, whatever the answer. */
export const eraseBesideSignIn: Campaign = {
  name: 'erase beside sign-in',
  async run({ report, random, scale }) {
    const restoreLog = redirectLog(() => {});
    const table = await startEmbeddedTable();
    const { verify, store, hashes } = functionOn(table);
    const admin = localAdministration(table, 'local:hardening');
    for (let race = 0; race < Math.ceil(RACES * scale); race += 1) {
      const phone = `+98955${String(5_000_000 + race)}`;
      await store(phone, 0);
      const phoneHash = await hashes.phone(phone);
      const [{ statusCode }] = await Promise.all([
        pause(random.integer(LARGEST_DELAY_MS)).then(() => verify(phone, RIGHT, 'buyers:register')),
        pause(random.integer(LARGEST_DELAY_MS)).then(() => eraseBuyer(admin, phoneHash)),
      ]);
      report.operation('races of an erasure and a sign-in', statusCode === 200 || statusCode === 422);
      const { isRegistered } = await readBuyerData(admin, phoneHash);
      report.expect('erasure beside sign-in: nobody is registered', !isRegistered, () => `${statusCode}`);
    }
    await table.stop();
    restoreLog();
  },
};
