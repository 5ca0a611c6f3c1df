import { randomInt } from 'node:crypto';
import { completeNationalId } from '#shared/values/national-id.ts';

/** Returns the numbers below `limit`, one with each call and each once, from a random one on. */
const serials = (limit: number) => {
  let next = randomInt(limit);
  return () => {
    const serial = next;
    next = (next + 1) % limit;
    return String(serial).padStart(String(limit - 1).length, '0');
  };
};

const nextIdSerial = serials(100_000);
/** Below 0999 9: the test phones have outcomes of their own. */
const nextPhoneSerial = serials(9_000_000);

/**
 * Returns a generated person: no national id begins with 9990, and the phone is one that the sandbox accepts (0999). The national ids
 * and the phones of one process are distinct, so that two of its people are never one person to a seller.
 */
export const newDemoPerson = () => ({
  national_id: completeNationalId(`9990${nextIdSerial()}`),
  birth_date: `13${60 + randomInt(30)}/${1 + randomInt(12)}/${1 + randomInt(29)}`,
  phone: `+98999${nextPhoneSerial()}`,
  display_name: 'Sara Ahmadi',
});
