/**
 * Test identities, like the test cards of a payment sandbox, for the sandbox and the simulators. Everybody else matches, and every other
 * phone is sent its code. `docs/test-identities.md` describes the outcomes; a test compares it with these tables.
 */
import { completeNationalId } from '#shared/users/national-id.ts';

/** The first eight digits of the national ids of each outcome. The ninth is free, so that each outcome has ten persons. */
const PERSON_PREFIXES = {
  not_found: '99999901',
  deceased: '99999902',
  not_owner: '99999903',
  quota: '99999904',
  balance: '99999905',
  upstream_down: '99999906',
  slow: '99999907',
  malformed: '99999908',
  undecided: '99999909',
  rejected: '99999910',
} as const;

/** The first digits of the phones (E.164) of each outcome. The last two are free. */
const PHONE_PREFIXES = {
  rejected: '+9899999901',
  balance: '+9899999902',
  upstream_down: '+9899999903',
  slow: '+9899999904',
  malformed: '+9899999905',
  lost_response: '+9899999906',
} as const;

/** How a registry responds for a test person. */
export type PersonOutcome = keyof typeof PERSON_PREFIXES;

/** How an SMS provider responds for a test phone. */
export type PhoneOutcome = keyof typeof PHONE_PREFIXES;

/** Every outcome of a test person. */
export const PERSON_OUTCOMES = /* @__PURE__ */ Object.keys(PERSON_PREFIXES) as readonly PersonOutcome[];

/** Every outcome of a test phone. */
export const PHONE_OUTCOMES = /* @__PURE__ */ Object.keys(PHONE_PREFIXES) as readonly PhoneOutcome[];

/** Returns undefined for a person who is not a test person. */
export const outcomeOfPerson = (nationalId: string): PersonOutcome | undefined =>
  PERSON_OUTCOMES.find((outcome) => nationalId.startsWith(PERSON_PREFIXES[outcome]));

/** Returns undefined for a phone (E.164) that is not a test phone. */
export const outcomeOfPhone = (phone: string): PhoneOutcome | undefined =>
  PHONE_OUTCOMES.find((outcome) => phone.startsWith(PHONE_PREFIXES[outcome]));

/** Returns the national id of a test person. `serial` (0–9) selects one of the persons of an outcome. */
export const testNationalId = (outcome: PersonOutcome, serial = 0): string =>
  completeNationalId(`${PERSON_PREFIXES[outcome]}${serial}`);

/** Returns a test phone in E.164. `serial` (0–99) selects one of the phones of an outcome. */
export const testPhone = (outcome: PhoneOutcome, serial = 0): string =>
  `${PHONE_PREFIXES[outcome]}${String(serial).padStart(2, '0')}`;
