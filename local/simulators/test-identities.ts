/**
 * Test identities: what a payment sandbox's test cards are. National ids that begin with 999 belong to nobody, and so do phones that
 * begin with 0999999. Anybody else who is valid matches. `docs/test-identities.md` shows these tables and is held to them by a test.
 */
import { completeNationalId } from '#shared/users/national-id.ts';

/** What the simulated registries do with a person. */
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

/** What the simulated SMS providers do with a phone. */
export type PhoneOutcome = 'rejected' | 'balance' | 'upstream_down' | 'slow' | 'malformed' | 'lost_answer';

interface TestIdentity<Outcome> {
  /** The first digits; what follows is free, so that each outcome has several people. */
  readonly prefix: string;
  readonly outcome: Outcome;
  readonly meaning: string;
  /** What the service answers. */
  readonly answer: string;
}

/** By the first eight digits of the national id. */
export const TEST_PEOPLE: readonly TestIdentity<PersonOutcome>[] = [
  {
    prefix: '99999901',
    outcome: 'not_found',
    meaning: 'No person has this national id and birth date.',
    answer: '422 identity_mismatch',
  },
  {
    prefix: '99999902',
    outcome: 'deceased',
    meaning: 'The person has died.',
    answer: '422 identity_mismatch',
  },
  {
    prefix: '99999903',
    outcome: 'not_owner',
    meaning: 'The phone belongs to another person.',
    answer: '422 phone_not_owned',
  },
  {
    prefix: '99999904',
    outcome: 'quota',
    meaning: 'The daily quota of our account is used up.',
    answer: '503 verification_unavailable',
  },
  {
    prefix: '99999905',
    outcome: 'balance',
    meaning: 'The wallet of our account is empty.',
    answer: '503 verification_unavailable',
  },
  {
    prefix: '99999906',
    outcome: 'upstream_down',
    meaning: 'The registry behind the provider is down.',
    answer: '503 verification_unavailable',
  },
  {
    prefix: '99999907',
    outcome: 'slow',
    meaning: 'The provider never answers.',
    answer: '503 verification_unavailable, after some seconds',
  },
  {
    prefix: '99999908',
    outcome: 'malformed',
    meaning: 'The provider answers with a page of HTML.',
    answer: '503 verification_unavailable',
  },
  {
    prefix: '99999909',
    outcome: 'undecided',
    meaning: 'The provider answers that it cannot tell.',
    answer: '503 verification_unavailable',
  },
  {
    prefix: '99999910',
    outcome: 'rejected',
    meaning: 'The provider does not take the national id, though its check digit is right.',
    answer: '503 verification_unavailable',
  },
];

/** By the first digits of the phone in E.164. */
export const TEST_PHONES: readonly TestIdentity<PhoneOutcome>[] = [
  {
    prefix: '+9899999901',
    outcome: 'rejected',
    meaning: 'The provider does not take the number. Nothing goes out, and the cool-down is not used up.',
    answer: '503 sms_unavailable',
  },
  {
    prefix: '+9899999902',
    outcome: 'balance',
    meaning: 'Our account has no credit. Nothing goes out, and the cool-down is not used up.',
    answer: '503 sms_unavailable',
  },
  {
    prefix: '+9899999903',
    outcome: 'upstream_down',
    meaning: 'The provider is down; whether a message goes out is not known.',
    answer: '503 sms_unavailable',
  },
  {
    prefix: '+9899999904',
    outcome: 'slow',
    meaning: 'The provider never answers; whether a message goes out is not known.',
    answer: '503 sms_unavailable, after some seconds',
  },
  {
    prefix: '+9899999905',
    outcome: 'malformed',
    meaning: 'The provider answers with a page of HTML; whether a message goes out is not known.',
    answer: '503 sms_unavailable',
  },
  {
    prefix: '+9899999906',
    outcome: 'lost_answer',
    meaning:
      'The message goes out, and the connection breaks before the provider says so. The code is valid.',
    answer: '503 sms_unavailable',
  },
];

/** The national id of a test person; `serial` (0–9) tells several of one outcome apart. */
export const testNationalId = (outcome: PersonOutcome, serial = 0): string =>
  completeNationalId(`${prefixOf(TEST_PEOPLE, outcome)}${serial}`);

/** A test phone in E.164; `serial` (0–99) tells several of one outcome apart. */
export const testPhone = (outcome: PhoneOutcome, serial = 0): string =>
  `${prefixOf(TEST_PHONES, outcome)}${String(serial).padStart(2, '0')}`;

const prefixOf = <Outcome>(identities: readonly TestIdentity<Outcome>[], outcome: Outcome): string =>
  (identities.find((identity) => identity.outcome === outcome) as TestIdentity<Outcome>).prefix;

/** Undefined for anybody who is no test identity. */
export const outcomeOfPerson = (nationalId: string): PersonOutcome | undefined =>
  TEST_PEOPLE.find(({ prefix }) => nationalId.startsWith(prefix))?.outcome;

/** Undefined for any phone that is none of the tests'. */
export const outcomeOfPhone = (phone: string): PhoneOutcome | undefined =>
  TEST_PHONES.find(({ prefix }) => phone.startsWith(prefix))?.outcome;
