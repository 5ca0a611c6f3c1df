/** Test identities, like the test cards of a payment sandbox, for the sandbox and the simulators. A test compares docs/sellers/test-identities.md. */
import { completeNationalId } from '#shared/values/national-id.ts';

/** The number of each outcome of a person: two digits of the national ids that have it. */
const PERSON_NUMBERS = {
  not_found: '01',
  deceased: '02',
  not_owner: '03',
  quota: '04',
  balance: '05',
  upstream_down: '06',
  slow: '07',
  malformed: '08',
  undecided: '09',
  rejected: '10',
} as const;

/** The number of each outcome of a phone: two digits of the phones that have it. */
const PHONE_NUMBERS = {
  rejected: '01',
  balance: '02',
  upstream_down: '03',
  slow: '04',
  malformed: '05',
  lost_response: '06',
} as const;

/** Two digits, as those of an outcome, of the phones whose verified codes register no buyer. */
const NEVER_REGISTERED = '07';

/** The digits before the number of the outcome, and how many free digits come after it. */
interface Pattern {
  readonly before: string;
  readonly freeDigits: number;
}

/** Ten persons of each outcome, and 1,000 more: a suite that takes another one for each test never meets the lock of one person. */
const PERSON_PATTERNS = [
  { before: '999999', freeDigits: 1 },
  { before: '9998', freeDigits: 3 },
] as const satisfies readonly Pattern[];

/** In E.164: 100 phones of each outcome, and 1,000 more. */
const PHONE_PATTERNS = [
  { before: '+98999999', freeDigits: 2 },
  { before: '+9899998', freeDigits: 3 },
] as const satisfies readonly Pattern[];

export type PersonOutcome = keyof typeof PERSON_NUMBERS;

export type PhoneOutcome = keyof typeof PHONE_NUMBERS;

export const PERSON_OUTCOMES = /* @__PURE__ */ Object.keys(PERSON_NUMBERS) as readonly PersonOutcome[];

export const PHONE_OUTCOMES = /* @__PURE__ */ Object.keys(PHONE_NUMBERS) as readonly PhoneOutcome[];

const hasNumber = (text: string, number: string, patterns: readonly Pattern[]): boolean =>
  patterns.some(({ before }) => text.startsWith(`${before}${number}`));

export const outcomeOfPerson = (nationalId: string): PersonOutcome | undefined =>
  PERSON_OUTCOMES.find((outcome) => hasNumber(nationalId, PERSON_NUMBERS[outcome], PERSON_PATTERNS));

export const outcomeOfPhone = (phone: string): PhoneOutcome | undefined =>
  PHONE_OUTCOMES.find((outcome) => hasNumber(phone, PHONE_NUMBERS[outcome], PHONE_PATTERNS));

/** Whether a verified code of this phone (E.164) registers its buyer where the SMS provider is the sandbox. */
export const registersInSandbox = (phone: string): boolean =>
  !hasNumber(phone, NEVER_REGISTERED, PHONE_PATTERNS);

const numbered = (number: string, serial: number, [few, many]: readonly [Pattern, Pattern]): string => {
  const fewCount = 10 ** few.freeDigits;
  const [{ before, freeDigits }, free] = serial < fewCount ? [few, serial] : [many, serial - fewCount];
  return `${before}${number}${String(free).padStart(freeDigits, '0')}`;
};

/** Returns the national id of a test person. `serial` (0–1,009) selects one of the persons of an outcome. */
export const testNationalId = (outcome: PersonOutcome, serial = 0): string =>
  completeNationalId(numbered(PERSON_NUMBERS[outcome], serial, PERSON_PATTERNS));

/** Returns a test phone in E.164. `serial` (0–1,099) selects one of the phones of an outcome. */
export const testPhone = (outcome: PhoneOutcome, serial = 0): string =>
  numbered(PHONE_NUMBERS[outcome], serial, PHONE_PATTERNS);
