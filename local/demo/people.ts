import { randomInt } from 'node:crypto';
import { completeNationalId } from '#shared/users/national-id.ts';

const randomDigits = (count: number): string => Array.from({ length: count }, () => randomInt(10)).join('');

/** Returns a generated person: no national id begins with 9990, and no operator uses the phone range 0955. */
export const newDemoPerson = () => ({
  national_id: completeNationalId(`9990${randomDigits(5)}`),
  birth_date: `13${60 + randomInt(30)}/${1 + randomInt(12)}/${1 + randomInt(29)}`,
  phone: `+98955${randomDigits(7)}`,
  display_name: 'Sara Ahmadi',
});
