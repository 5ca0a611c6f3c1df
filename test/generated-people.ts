import { randomInt } from 'node:crypto';
import { newDemoPerson } from '#test/simulators/people.ts';

/** A body of POST /v1/users. */
export type NewUser = ReturnType<typeof newDemoPerson>;

/** Every person that this process generated, for the test that no personal data is logged. */
export const peopleMade: NewUser[] = [];

/**
 * Returns a generated person, another one at each call, with a name to find again. The birth date is always the same day, in another form
 * than it is stored in.
 */
export const newPerson = (): NewUser => {
  // Eight digits: one of six could be the code of another person.
  const display_name = `Person ${randomInt(10_000_000, 100_000_000)}`;
  const person = { ...newDemoPerson(), birth_date: '1370/01/15', display_name };
  peopleMade.push(person);
  return person;
};

/** A phone of the range (0999) that the sandbox accepts. */
export const newPhone = (): string => newDemoPerson().phone;
