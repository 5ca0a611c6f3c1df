import {
  type PersonOutcome,
  type PhoneOutcome,
  testNationalId,
  testPhone,
} from '#local/simulators/test-identities.ts';
import type { ProblemCode } from '#shared/problems.ts';
import { call, expectProblem, expectRetryAfter } from './call.ts';
import { registeredPerson } from './people.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

const linkAs = async (target: Target, outcome: PersonOutcome) => {
  const person = { ...(await registeredPerson(target)), national_id: testNationalId(outcome) };
  return { person, reply: await call(target, '/v1/users', { key: target.keys.professional, body: person }) };
};

const VERDICTS: readonly (readonly [PersonOutcome, ProblemCode])[] = [
  ['not_found', 'identity_mismatch'],
  ['deceased', 'identity_mismatch'],
  ['not_owner', 'phone_not_owned'],
];

/** A few only: a provider that fails often is left alone for a while, and then the other scenarios would meet it so. */
const NO_VERDICT: readonly PersonOutcome[] = ['quota', 'malformed'];

const SURELY_NOT_SENT: readonly PhoneOutcome[] = ['rejected', 'balance'];

/** What the registry and the SMS provider say, and what a caller hears of it. */
export const providerScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options, 'test identities', 'sent messages');

  describe('the registry', () => {
    for (const [outcome, code] of VERDICTS) {
      scenario(`refuses a person by its verdict: ${outcome} is ${code}`, async () => {
        expectProblem((await linkAs(target(), outcome)).reply, code);
      });
    }

    for (const outcome of NO_VERDICT) {
      scenario(`that gives no verdict (${outcome}) refuses nobody: it is to be asked again`, async () => {
        const { person, reply } = await linkAs(target(), outcome);
        expectProblem(reply, 'verification_unavailable');
        expectRetryAfter(reply, 3600);
        // Nothing was stored: the same phone links as another person.
        const { national_id } = await registeredPerson(target());
        const body = { ...person, national_id };
        const linked = await call(target(), '/v1/users', { key: target().keys.professional, body });
        expect(linked.status).toBe(201);
      });
    }
  });

  describe('the SMS provider', () => {
    for (const outcome of SURELY_NOT_SENT) {
      scenario(`that does not take a message (${outcome}) does not use up the cool-down`, async () => {
        const send = () =>
          call(target(), '/v1/auth/otp/send', {
            key: target().keys.app,
            body: { phone: testPhone(outcome) },
          });
        for (const reply of [await send(), await send()]) {
          expectProblem(reply, 'sms_unavailable');
          expectRetryAfter(reply, 3600);
        }
      });
    }
  });
};
