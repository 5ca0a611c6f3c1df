/**
 * Test identities, like the test cards of a payment sandbox. The simulators match every valid person and accept a message to every
 * phone that is not in these tables. A test compares them with `docs/test-identities.md`.
 */
import { completeNationalId } from '#shared/users/national-id.ts';

/** How the simulated registries respond for a person. */
export type PersonOutcome =
  | 'not_found'
  | 'deceased'
  | 'not_owner'
  | 'quota'
  | 'balance'
  | 'upstream_down'
  | 'slow'
  | 'malformed'
  | 'undecided'
  | 'rejected';

/** How the simulated SMS providers respond for a phone. */
export type PhoneOutcome = 'rejected' | 'balance' | 'upstream_down' | 'slow' | 'malformed' | 'lost_response';

interface TestIdentity<Outcome> {
  /** The first digits. The next ones are free, so that each outcome has several identities. */
  readonly prefix: string;
  readonly outcome: Outcome;
  readonly meaning: string;
  /** The response of the service. */
  readonly response: string;
}

/** Test persons, by the first eight digits of the national id. */
export const TEST_PEOPLE: readonly TestIdentity<PersonOutcome>[] = [
  {
    prefix: '99999901',
    outcome: 'not_found',
    meaning: 'No person has this national id and birth date.',
    response: '422 identity_mismatch',
  },
  {
    prefix: '99999902',
    outcome: 'deceased',
    meaning: 'The person has died.',
    response: '422 identity_mismatch',
  },
  {
    prefix: '99999903',
    outcome: 'not_owner',
    meaning: 'The phone belongs to another person.',
    response: '422 phone_not_owned',
  },
  {
    prefix: '99999904',
    outcome: 'quota',
    meaning: 'The daily quota of our account is used up.',
    response: '503 verification_unavailable',
  },
  {
    prefix: '99999905',
    outcome: 'balance',
    meaning: 'The wallet of our account is empty.',
    response: '503 verification_unavailable',
  },
  {
    prefix: '99999906',
    outcome: 'upstream_down',
    meaning: 'The registry behind the provider is down.',
    response: '503 verification_unavailable',
  },
  {
    prefix: '99999907',
    outcome: 'slow',
    meaning: 'The provider never responds.',
    response: '503 verification_unavailable, after some seconds',
  },
  {
    prefix: '99999908',
    outcome: 'malformed',
    meaning: 'The provider responds with an HTML page.',
    response: '503 verification_unavailable',
  },
  {
    prefix: '99999909',
    outcome: 'undecided',
    meaning: 'The provider responds that it cannot decide.',
    response: '503 verification_unavailable',
  },
  {
    prefix: '99999910',
    outcome: 'rejected',
    meaning: 'The provider does not accept the national id, although its check digit is right.',
    response: '503 verification_unavailable',
  },
];

/** Test phones, by the first digits in E.164. */
export const TEST_PHONES: readonly TestIdentity<PhoneOutcome>[] = [
  {
    prefix: '+9899999901',
    outcome: 'rejected',
    meaning:
      'The provider does not accept the number. The message is not sent, and the cool-down is not used up.',
    response: '503 sms_unavailable',
  },
  {
    prefix: '+9899999902',
    outcome: 'balance',
    meaning: 'Our account has no credit. The message is not sent, and the cool-down is not used up.',
    response: '503 sms_unavailable',
  },
  {
    prefix: '+9899999903',
    outcome: 'upstream_down',
    meaning: 'The provider is down. The message was possibly sent.',
    response: '503 sms_unavailable',
  },
  {
    prefix: '+9899999904',
    outcome: 'slow',
    meaning: 'The provider never responds. The message was possibly sent.',
    response: '503 sms_unavailable, after some seconds',
  },
  {
    prefix: '+9899999905',
    outcome: 'malformed',
    meaning: 'The provider responds with an HTML page. The message was possibly sent.',
    response: '503 sms_unavailable',
  },
  {
    prefix: '+9899999906',
    outcome: 'lost_response',
    meaning: 'The message is sent, and the connection breaks before the response. The code is valid.',
    response: '503 sms_unavailable',
  },
];

/** Returns the national id of a test person. `serial` (0–9) selects one of the persons of an outcome. */
export const testNationalId = (outcome: PersonOutcome, serial = 0): string =>
  completeNationalId(`${prefixOf(TEST_PEOPLE, outcome)}${serial}`);

/** Returns a test phone in E.164. `serial` (0–99) selects one of the phones of an outcome. */
export const testPhone = (outcome: PhoneOutcome, serial = 0): string =>
  `${prefixOf(TEST_PHONES, outcome)}${String(serial).padStart(2, '0')}`;

const prefixOf = <Outcome>(identities: readonly TestIdentity<Outcome>[], outcome: Outcome): string =>
  (identities.find((identity) => identity.outcome === outcome) as TestIdentity<Outcome>).prefix;

/** Returns undefined for a person who is not a test person. */
export const outcomeOfPerson = (nationalId: string): PersonOutcome | undefined =>
  TEST_PEOPLE.find(({ prefix }) => nationalId.startsWith(prefix))?.outcome;

/** Returns undefined for a phone that is not a test phone. */
export const outcomeOfPhone = (phone: string): PhoneOutcome | undefined =>
  TEST_PHONES.find(({ prefix }) => phone.startsWith(prefix))?.outcome;
