import { completeNationalId } from '#shared/users/national-id.ts';

let count = 0;

/** A person whom nobody is: national ids that begin with 999 belong to no issuing place. A new one at each call. */
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
