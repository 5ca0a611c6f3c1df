import { completeNationalId } from '#shared/values/national-id.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { type Simulators, startSimulators } from '#test/simulators/server.ts';

/** The simulators reject what the real providers reject, so that an error in an adapter shows on one machine. */
const clock = fakeClock('2026-11-21T08:00:00Z');
let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators(clock);
});
afterAll(() => simulators.close());

const ID = completeNationalId('999000001');
const PHONE = '09990000001';

type Section = {
  base_url: string;
  api_key: string;
  secret_key: string;
  token: string;
  template: string;
  template_id: number;
};
const section = (name: string) => simulators.providerSecret[name] as Section;

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads JSON of any shape.
  readonly json: any;
}

const ask = async (name: string, path: string, init: RequestInit = {}): Promise<Reply> => {
  const response = await fetch(`${section(name).base_url}${path}`, init);
  return { status: response.status, json: await response.json() };
};
const post = (name: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(name, path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('jibit', () => {
  const pair = async () => {
    const { api_key: apiKey, secret_key: secretKey } = section('jibit');
    return (await post('jibit', '/v1/tokens/generate', { apiKey, secretKey })).json;
  };
  const get = (path: string, token: string) =>
    ask('jibit', path, { headers: { authorization: `Bearer ${token}` } });

  it.each([
    [{}, 'apiKey.is_required'],
    [{ apiKey: 'x' }, 'secretKey.is_required'],
    [{ apiKey: 'x', secretKey: 'y' }, 'invalid.credentials'],
    ['no object', 'invalid.request_body'],
  ])('issues no token for %j', async (body, code) => {
    expect((await post('jibit', '/v1/tokens/generate', body)).json.code).toBe(code);
  });

  it('exchanges a pair of tokens for a new one, once', async () => {
    const first = await pair();
    const second = await post('jibit', '/v1/tokens/refresh', first);
    expect(second.status).toBe(200);
    expect((await post('jibit', '/v1/tokens/refresh', first)).json.code).toBe('refreshToken.not_valid');
    expect(
      (await get(`/v1/services/matching?nationalCode=${ID}&mobileNumber=${PHONE}`, first.accessToken)).status,
    ).toBe(403);
  });

  it('expires access tokens after one day and refresh tokens after two', async () => {
    const tokens = await pair();
    const path = `/v1/services/matching?nationalCode=${ID}&mobileNumber=${PHONE}`;
    clock.advance(24 * 3600 - 1);
    expect((await get(path, tokens.accessToken)).json).toEqual({ matched: true });
    clock.advance(1);
    expect((await get(path, tokens.accessToken)).json.code).toBe('forbidden');
    expect((await post('jibit', '/v1/tokens/refresh', tokens)).status).toBe(200);
    const others = await pair();
    clock.advance(48 * 3600);
    expect((await post('jibit', '/v1/tokens/refresh', others)).json.code).toBe('refreshToken.not_valid');
  });

  it.each([
    ['identity', '', 'required_is.nationalCode'],
    ['identity', 'nationalCode=123', 'nationalCode.not_valid'],
    ['identity', 'nationalCode=9990000011', 'nationalCode.not_valid'],
    ['identity', `nationalCode=${ID}`, 'birthDate.is_required'],
    ['identity', `nationalCode=${ID}&birthDate=1370/01/15`, 'birthDate.not_valid'],
    ['identity', `nationalCode=${ID}&birthDate=13701301`, 'birthDate.not_valid'],
    ['identity', `nationalCode=${ID}&birthDate=13700115&mobile=1`, 'parameters.not_acceptable'],
    ['matching', `nationalCode=${ID}`, 'mobileNumber.not_valid'],
    ['matching', `nationalCode=${ID}&mobileNumber=%2B989990000001`, 'mobileNumber.not_valid'],
  ])('rejects the %s inquiry %j', async (inquiry, query, code) => {
    const { accessToken } = await pair();
    expect((await get(`/v1/services/${inquiry}?${query}`, accessToken)).json.code).toBe(code);
  });

  it('sends the photo unless the request omits it', async () => {
    const { accessToken } = await pair();
    const path = `/v1/services/identity?nationalCode=${ID}&birthDate=13700115`;
    expect((await get(path, accessToken)).json.identityInfo).toHaveProperty('photo');
    expect((await get(`${path}&withoutPhoto=true`, accessToken)).json.identityInfo).not.toHaveProperty(
      'photo',
    );
  });

  it('returns the balances to an access token, and to nobody else', async () => {
    const { accessToken } = await pair();
    expect((await get('/v1/balances', accessToken)).json.balances).toHaveLength(1);
    expect((await get('/v1/balances', 'another')).json.code).toBe('forbidden');
  });

  it('returns handler.not_found to any other path', async () => {
    expect((await get('/v2/services/identity', 'any')).json.code).toBe('handler.not_found');
  });
});

describe('zohal', () => {
  const inquire = (inquiry: string, body: unknown, token = section('zohal').token) =>
    post('zohal', `/services/inquiry/${inquiry}`, body, { authorization: `Bearer ${token}` });

  it.each([
    ['shahkar', { national_code: ID }, 'invalid'],
    ['shahkar', { national_code: ID, mobile: '+989990000001' }, 'invalid'],
    ['shahkar', { national_code: '9990000011', mobile: PHONE }, 'NATIONAL_ID_INVALID'],
    ['national_identity_inquiry', { national_code: ID, birth_date: '13700115' }, 'invalid'],
    ['national_identity_inquiry', { national_code: ID, birth_date: '1370/1/15' }, 'invalid'],
    ['national_identity_inquiry', { birth_date: '1370/01/15' }, 'invalid'],
    ['shahkar', [], 'invalid'],
  ])('rejects the inquiry %s with %j', async (inquiry, body, code) => {
    expect((await inquire(inquiry, body)).json.response_body.error_code).toBe(code);
  });

  it('rejects another token', async () => {
    const { status, json } = await inquire('shahkar', { national_code: ID, mobile: PHONE }, 'another');
    expect([status, json.response_body.error_code]).toEqual([401, 'unauthorized']);
  });
});

describe('kavenegar', () => {
  const good = () => ({ receptor: PHONE, token: '123456', template: section('kavenegar').template });
  const lookup = async (fields: Record<string, string>, key = section('kavenegar').api_key) => {
    const { status, json } = await ask('kavenegar', `/v1/${key}/verify/lookup.json`, {
      method: 'POST',
      body: new URLSearchParams(fields),
    });
    return [status, json.return.status];
  };

  it('accepts a valid message', async () => {
    expect(await lookup(good())).toEqual([200, 200]);
  });

  it.each([
    [{ receptor: '' }, 406],
    [{ token: '' }, 406],
    [{ receptor: '+989990000001' }, 411],
    [{ template: 'another' }, 424],
    [{ token: '12 34' }, 431],
    [{ token: '12_34' }, 431],
    [{ tokens: '1' }, 400],
  ])('rejects a message with %j', async (change, status) => {
    expect(await lookup({ ...good(), ...(change as Record<string, string>) })).toEqual([status, status]);
  });

  it('returns the credit to its key, and to no other', async () => {
    const info = (key: string) => ask('kavenegar', `/v1/${key}/account/info.json`);
    expect((await info(section('kavenegar').api_key)).json.entries.remaincredit).toBe(1_500_000);
    expect((await info('another')).json.return.status).toBe(403);
  });

  it('rejects another key, and a body that is not a form', async () => {
    expect(await lookup(good(), 'another')).toEqual([403, 403]);
    const path = `/v1/${section('kavenegar').api_key}/verify/lookup.json`;
    expect((await post('kavenegar', path, good())).json.return.status).toBe(405);
  });
});

describe('sms.ir', () => {
  const good = () => ({
    mobile: PHONE,
    templateId: section('sms-ir').template_id,
    parameters: [{ name: 'Code', value: '123456' }],
  });
  const verify = async (body: unknown, key = section('sms-ir').api_key) => {
    const { status, json } = await post('sms-ir', '/v1/send/verify', body, { 'x-api-key': key });
    return [status, json.status];
  };

  it.each([PHONE, '9990000001', '+989990000001', '00989990000001'])(
    'accepts a message to %s',
    async (mobile) => {
      expect(await verify({ ...good(), mobile })).toEqual([200, 1]);
    },
  );

  it.each([
    [{ mobile: '02188888888' }, 104],
    [{ templateId: 1 }, 113],
    [{ templateId: 'text' }, 113],
    [{ parameters: [{ name: 'code', value: '1' }] }, 116],
    [{ parameters: [] }, 116],
    [{ parameters: [{ name: 'Code', value: 'x'.repeat(26) }] }, 114],
  ])('rejects a message with %j', async (change, status) => {
    expect(await verify({ ...good(), ...change })).toEqual([400, status]);
  });

  it('returns the credit to its key, and to no other', async () => {
    const credit = (key: string) => ask('sms-ir', '/v1/credit', { headers: { 'x-api-key': key } });
    expect((await credit(section('sms-ir').api_key)).json).toMatchObject({ status: 1, data: 8500 });
    expect((await credit('another')).json.status).toBe(10);
  });

  it('rejects another key, and a body that is not an object', async () => {
    expect(await verify(good(), 'another')).toEqual([401, 10]);
    expect(await verify([])).toEqual([400, 16]);
  });
});
