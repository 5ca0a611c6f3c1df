import { randomInt } from 'node:crypto';
import { type PersonOutcome, testNationalId, testPhone } from '#shared/providers/test-identities.ts';
import { registeredPerson } from './buyers.ts';
import { call, expectProblem, expectRetryAfter } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

const linkAs = async (target: Target, outcome: PersonOutcome) => {
  const person = { ...(await registeredPerson(target)), national_id: testNationalId(outcome) };
  return { person, reply: await call(target, '/v1/users', { key: target.keys.professional, body: person }) };
};

/** The responses of the service for each kind of response of a registry and an SMS provider. */
export const providerScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options, 'sandbox');

  describe('the registry', () => {
    scenario('rejects a person by its verdict', async () => {
      expectProblem((await linkAs(target(), 'deceased')).reply, 'identity_mismatch');
      expectProblem((await linkAs(target(), 'not_owner')).reply, 'phone_not_owned');
    });

    scenario('rejects no person without a verdict: the caller may send the request again', async () => {
      const { person, reply } = await linkAs(target(), 'malformed');
      expectProblem(reply, 'verification_unavailable');
      expectRetryAfter(reply, 3600);
      // Nothing was stored: the same phone can be linked with another person.
      const { national_id } = await registeredPerson(target());
      const body = { ...person, national_id };
      const linked = await call(target(), '/v1/users', { key: target().keys.professional, body });
      expect(linked.status).toBe(201);
    });
  });

  describe('the SMS provider', () => {
    scenario('starts the cool-down if it refuses a message', async () => {
      // Any phone of the outcome, so that the scenario can run again within the cool-down.
      const phone = testPhone('rejected', randomInt(100));
      const send = () => call(target(), '/v1/auth/otp/send', { key: target().keys.app, body: { phone } });
      const refused = await send();
      expectProblem(refused, 'sms_unavailable');
      expectRetryAfter(refused, 60);
      const tooSoon = await send();
      expectProblem(tooSoon, 'resend_too_soon');
      expectRetryAfter(tooSoon, 60);
    });
  });
};
