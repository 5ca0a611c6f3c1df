import { testNationalId } from '#shared/providers/test-identities.ts';
import { completeNationalId } from '#shared/values/national-id.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';

/** The fault panel over HTTP, with the whole service in its own process. */
let service: RunningService;
beforeAll(async () => {
  service = await startRunningService({
    args: ['--memory'],
    environment: { IDENTITY_PROVIDERS: 'jibit,zohal', SMS_PROVIDERS: 'kavenegar,sms-ir' },
  });
});
afterAll(async () => {
  await service.stop();
  await removeDataFolder(service.folder);
});

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads JSON of any shape.
  readonly json: any;
}

const call = async (path: string, body?: unknown, key = service.demo.keys.professional): Promise<Reply> => {
  const response = await fetch(`${service.demo.base_url}${path}`, {
    headers: { 'X-Api-Key': key, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, json: await response.json() };
};

const setFault = (provider: string, fault: string) => call('/_local/faults', { provider, fault });

let people = 0;
/** Signs a new buyer in with a code, so that the phone is registered. */
const newBuyer = async () => {
  people += 1;
  const phone = `+98999777000${people}`;
  const sent = await call('/v1/auth/otp/send', { phone }, service.demo.keys.app);
  const { json: messages } = await call(`/_local/messages?phone=${encodeURIComponent(phone)}`);
  await call('/v1/auth/otp/verify', { phone, code: messages[0].code }, service.demo.keys.app);
  expect(sent.status).toBe(202);
  return {
    national_id: completeNationalId(`99977700${people}`),
    birth_date: '1370/1/5',
    phone,
    display_name: 'Sara',
  };
};

describe('the service with faults of its providers', () => {
  it('fails over when the first provider fails, returns 503 when both fail, and links again when a fault is removed', async () => {
    const statuses: (string | number)[] = [];
    const create = async () => {
      const { status, json } = await call('/v1/users', await newBuyer());
      statuses.push(json.code ?? status);
    };
    await create();
    await setFault('jibit', 'balance');
    await create();
    await setFault('zohal', 'quota');
    await create();
    await setFault('zohal', 'none');
    await create();
    await setFault('jibit', 'none');
    await create();
    expect(statuses).toEqual([201, 201, 'verification_unavailable', 201, 201]);
  });

  it('sends with the second SMS provider if the first did not send, and not if it possibly sent', async () => {
    await setFault('kavenegar', 'balance');
    await newBuyer();
    await setFault('kavenegar', 'reset');
    const reset = await call('/v1/auth/otp/send', { phone: '+989997770099' }, service.demo.keys.app);
    expect([reset.status, reset.json.code]).toEqual([503, 'sms_unavailable']);
    expect((await call('/_local/messages?phone=%2B989997770099')).json).toEqual([]);
    await setFault('kavenegar', 'none');
  });

  it('returns the verdict of the first provider without calling the second', async () => {
    const person = { ...(await newBuyer()), national_id: testNationalId('not_owner') };
    const { status, json } = await call('/v1/users', person);
    expect([status, json.code]).toEqual([422, 'phone_not_owned']);
  });
});
