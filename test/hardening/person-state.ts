import { personNumber, type TestPerson } from './people.ts';
import type { Report } from './report.ts';

/** What a seller wrote to a user: its name and its own reference. */
export interface SellerText {
  readonly display_name: string;
  readonly external_id: string | null;
}

/** The state of a person at a seller in the model. */
export interface PersonState {
  /** Its phone changes with a check. */
  person: TestPerson;
  /** The external ids that the seller gives to this person, and to no other. */
  readonly externalIds: readonly string[];
  /** The user id, while linked. */
  id?: string | undefined;
  /** What the user shows, while linked. */
  text: SellerText;
  /** What the user may show instead: what was sent since the last definite response. */
  attempted: SellerText[];
  /** The last change got no definite response. */
  unsettled: boolean;
  /** Ids that were removed. */
  readonly removed: string[];
}

/** Returns the states of people that are not linked. */
export const newStates = (firstPerson: number, people: number): PersonState[] =>
  Array.from({ length: people }, (_, index) => {
    const number = firstPerson + index;
    const person = personNumber(number);
    return {
      person,
      externalIds: [`order:${number}-a`, `order:${number}-b`],
      text: { display_name: person.display_name, external_id: null },
      attempted: [],
      unsettled: false,
      removed: [],
    };
  });

const textOf = ({ display_name, external_id }: SellerText): string => `${display_name} ${external_id}`;

/** Returns a user as its page must show it: the id and what the seller wrote. */
export const lineOf = (user: SellerText & { readonly id: string }): string => `${user.id} ${textOf(user)}`;

/** Notes that a change may have been made: it got no definite response. */
export const attempt = (state: PersonState, ...sent: readonly SellerText[]): void => {
  state.unsettled = true;
  state.attempted.push(...sent);
};

/** Notes what a definite response shows of the user. */
export const settle = (
  state: PersonState,
  { id, display_name, external_id }: SellerText & { readonly id: string },
): void => {
  Object.assign(state, { id, text: { display_name, external_id }, attempted: [], unsettled: false });
};

/** Checks what a user of a response shows. */
export const expectText = (report: Report, user: SellerText, allowed: readonly SellerText[]): void =>
  report.expect(
    'a user shows the name and the external id that were written last',
    allowed.map(textOf).includes(textOf(user)),
    () => `${textOf(user)} instead of ${allowed.map(textOf)}`,
  );
