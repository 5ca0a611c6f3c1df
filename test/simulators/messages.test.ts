import { smsSenderFrom } from '#shared/sms/configured.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { messageTo } from '#test/fakes/sms.ts';
import { neverAborted } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { type Simulators, startSimulators } from '#test/simulators/server.ts';

quietLog();
const clock = fakeClock('2026-11-21T08:00:00Z');
let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators(clock);
});
afterAll(() => simulators.close());

const PHONE = '+989990000001';

const send = (provider: string, code: string) =>
  smsSenderFrom([provider], fixedSecret(JSON.stringify(simulators.providerSecret))).sendCode(
    messageTo(PHONE, code),
    neverAborted(),
  );

describe('the simulators', () => {
  it('returns the messages of all providers to a phone, the newest first', async () => {
    await send('kavenegar', '111111');
    clock.advance(1);
    await send('sms-ir', '222222');
    expect(simulators.messages(PHONE)).toEqual([
      {
        phone: PHONE,
        code: '222222',
        sent_at: '2026-11-21T08:00:01.000Z',
        provider: 'sms-ir',
        template: 100_001,
        text: 'کد ورود: 222222\nFA+9qCX9VSu\n@buyer-app.example #222222',
      },
      {
        phone: PHONE,
        code: '111111',
        sent_at: '2026-11-21T08:00:00.000Z',
        provider: 'kavenegar',
        template: 'sign-in-code',
        text: 'کد ورود: 111111\nFA+9qCX9VSu\n@buyer-app.example #111111',
      },
    ]);
    expect(simulators.messages('+989990000002')).toEqual([]);
  });

  it('creates new credentials at each start', async () => {
    const other = await startSimulators(clock);
    await other.close();
    const keyOf = ({ providerSecret }: Simulators) =>
      (providerSecret.kavenegar as { api_key: string }).api_key;
    expect(keyOf(other)).not.toBe(keyOf(simulators));
  });
});
