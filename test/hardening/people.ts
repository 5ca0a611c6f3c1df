import { completeNationalId } from '#shared/values/national-id.ts';

/** A generated person whose checks match: national ids that begin with 999 are not issued. */
export interface TestPerson {
  readonly national_id: string;
  readonly birth_date: string;
  readonly phone: string;
  readonly display_name: string;
}

/** The other phone of a person. */
export const otherPhoneOf = ({ phone }: TestPerson): string =>
  phone.startsWith('+98955') ? phone.replace('+98955', '+98956') : phone.replace('+98956', '+98955');

/** Person number `index`, the same at each call. Phones are of the range 0955, which no operator uses. */
export const personNumber = (index: number): TestPerson => ({
  national_id: completeNationalId(`998${String(index).padStart(6, '0')}`),
  birth_date: `13${50 + (index % 40)}/${1 + (index % 12)}/${1 + (index % 29)}`,
  phone: `+98955${String(index).padStart(7, '0')}`,
  display_name: `Person ${index}`,
});
