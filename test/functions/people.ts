import { completeNationalId } from '#shared/users/national-id.ts';

let count = 0;

/** Returns a generated person, another one at each call. National ids that begin with 999 are not issued. */
export const newPerson = () => {
  count += 1;
  const serial = String(count).padStart(6, '0');
  return {
    national_id: completeNationalId(`999${serial}`),
    birth_date: '1370/1/15',
    phone: `+98999${String(count).padStart(7, '0')}`,
    display_name: `Person ${count}`,
  };
};
