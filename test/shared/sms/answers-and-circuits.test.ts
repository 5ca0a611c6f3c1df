import { smsSenderFrom } from '#shared/sms/configured.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { messageTo } from '#test/fakes/sms.ts';
import { failureOf, neverAborted } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { type ScriptedReply, scriptedServer } from '#test/shared/providers/scripted-server.ts';

/** What an SMS provider answers about one phone. One seller could send to that phone all the time. */
quietLog();
const server = scriptedServer();

const ODD_PHONE = '+989990000010';
const OTHER_PHONE = '+989990000029';
/** More than the failures that open a circuit. */
const MESSAGES = 20;

const ACCEPTED = {
  kavenegar: { status: 200, json: { return: { status: 200 } } },
  'sms-ir': { status: 200, json: { status: 1 } },
};

/** Returns a provider that answers `reply` to a message to the odd phone, and accepts every other message. */
const senderOf = (provider: keyof typeof ACCEPTED, reply: ScriptedReply) => {
  server.replyWith(({ body }) => (body.includes(ODD_PHONE.slice(3)) ? reply : ACCEPTED[provider]));
  const secret = {
    kavenegar: { api_key: 'k', template: 't', base_url: server.baseUrl },
    'sms-ir': { api_key: 'k', template_id: 1, base_url: server.baseUrl },
  };
  const sms = smsSenderFrom([provider], fixedSecret(JSON.stringify(secret)));
  return (phone: string) => sms.sendCode(messageTo(phone), neverAborted());
};

const kavenegar = (httpStatus: number, status: number) => ({
  status: httpStatus,
  json: { return: { status } },
});
const smsIr = (httpStatus: number, status: number) => ({ status: httpStatus, json: { status } });

it.each([
  ['kavenegar', 'rejected', kavenegar(411, 411)],
  ['kavenegar', 'rejected', kavenegar(501, 501)],
  ['kavenegar', 'upstream', kavenegar(409, 409)],
  ['kavenegar', 'balance', kavenegar(418, 418)],
  ['kavenegar', 'upstream', kavenegar(599, 599)],
  ['sms-ir', 'rejected', smsIr(400, 104)],
  ['sms-ir', 'balance', smsIr(400, 102)],
  ['sms-ir', 'upstream', smsIr(500, 0)],
  ['sms-ir', 'upstream', smsIr(500, 199)],
] as const)(
  'an error of %s in its documented form, %s, never opens the circuit for others: %j',
  async (provider, reason, reply) => {
    const send = senderOf(provider, reply);
    for (let message = 0; message < MESSAGES; message += 1) {
      expect((await failureOf(send(ODD_PHONE))).reason).toBe(reason);
    }
    expect(await send(OTHER_PHONE)).toEqual({ provider });
  },
);

it.each([
  ['kavenegar', { status: 503, json: { message: 'unavailable' } }],
  ['kavenegar', { status: 418, text: '<html>' }],
  // A proxy that repeats the HTTP status in its own JSON.
  ['sms-ir', { status: 503, json: { status: 503, error: 'Service Unavailable' } }],
  ['sms-ir', { status: 200, text: '<html>' }],
] as const)('an answer of %s in another form opens the circuit: %j', async (provider, reply) => {
  const send = senderOf(provider, reply);
  for (let message = 0; message < MESSAGES; message += 1) await failureOf(send(ODD_PHONE));
  expect((await failureOf(send(OTHER_PHONE))).reason).toBe('circuit_open');
});
