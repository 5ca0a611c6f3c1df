import { build as buildCreateUser } from '#functions/create-user.ts';
import { build as buildSendOtp } from '#functions/send-otp.ts';
import { build as buildVerifyOtp } from '#functions/verify-otp.ts';
import type { KeyPrefix } from '#shared/env.ts';
import type { KeyedParts } from '#shared/http/keyed-endpoint.ts';
import { checkPerson } from '#shared/identity-registry/check-person.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { codesOf, randomCode, sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { isSandboxAllowed, isSandboxPhone } from '#shared/providers/sandbox.ts';
import {
  outcomeOfPhone,
  type PersonOutcome,
  type PhoneOutcome,
  testNationalId,
  testPhone,
} from '#shared/providers/test-identities.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { deliverCode } from '#shared/sms/port.ts';
import { completeNationalId } from '#shared/values/national-id.ts';
import { messageTo } from '#test/fakes/sms.ts';
import { failureOf, neverAborted } from './failure.ts';
import { quietLog } from './quiet-log.ts';

const lines = quietLog();

/** A stage with the sandbox has no provider secret. */
const noSecret = { read: () => Promise.reject(new Error('the sandbox reads no secret')) };
const options = { retryPauseMs: () => 0 };

const sms = smsSenderFrom(['sandbox'], noSecret, options);
const registry = identityRegistryFrom(['sandbox'], noSecret, options);
const REAL_PHONE = '+989121234567';

describe('a phone that does not begin with 0999', () => {
  const detail = 'This deployment is a sandbox: it knows phones that begin with 0999 only.';

  it('is refused with sms_unavailable and a detail that says so', async () => {
    const sent = deliverCode(sms, messageTo(REAL_PHONE));
    await expect(sent).rejects.toMatchObject({ code: 'sms_unavailable', texts: { detail } });
  });

  it('is refused with verification_unavailable and a detail that says so', async () => {
    const birthDate = { year: 1370, month: 1, day: 5 };
    const person = { nationalId: completeNationalId('999000001'), birthDate, phone: REAL_PHONE };
    const checked = checkPerson(registry, person);
    await expect(checked).rejects.toMatchObject({ code: 'verification_unavailable', texts: { detail } });
  });
});

describe('the sandbox as an SMS provider', () => {
  it('accepts a message to a phone of 0999', async () => {
    expect(await sms.sendCode(messageTo('+989990000001', '000001'), neverAborted())).toEqual({
      provider: 'sandbox',
    });
  });

  it.each([
    ['rejected', 'rejected_number', 'not_sent'],
    ['balance', 'balance', 'not_sent'],
    ['upstream_down', 'upstream', 'possibly_sent'],
    ['malformed', 'malformed', 'possibly_sent'],
    ['lost_response', 'transport', 'possibly_sent'],
  ] as readonly (readonly [PhoneOutcome, string, string])[])(
    'fails for the test phone of %s with %s, %s',
    async (outcome, reason, delivery) => {
      const failure = await failureOf(sms.sendCode(messageTo(testPhone(outcome)), neverAborted()));
      expect(failure).toMatchObject({ reason, delivery });
    },
  );

  it('never responds to the test phone of slow', async () => {
    const signal = AbortSignal.timeout(20);
    const failure = await failureOf(sms.sendCode(messageTo(testPhone('slow')), signal));
    expect(failure).toMatchObject({ reason: 'timeout', delivery: 'possibly_sent' });
  });
});

describe('the sandbox as an identity registry', () => {
  it.each([
    ['quota', 'quota'],
    ['balance', 'balance'],
    ['upstream_down', 'upstream'],
    ['malformed', 'malformed'],
    ['undecided', 'undecided'],
    ['rejected', 'rejected'],
  ] as readonly (readonly [PersonOutcome, string])[])(
    'throws no verdict on the test person of %s: %s',
    async (outcome, reason) => {
      const day = { year: 1370, month: 1, day: 5 };
      const failure = await failureOf(registry.checkIdentity(testNationalId(outcome), day, neverAborted()));
      expect(failure).toMatchObject({ provider: 'sandbox', reason });
    },
  );
});

describe('the circuits of the sandbox', () => {
  const TIMES = 20;
  const day = { year: 1370, month: 1, day: 5 };

  it('never open: a test person that fails does not stop the checks of others', async () => {
    const failing = testNationalId('upstream_down');
    for (let check = 0; check < TIMES; check += 1) {
      const failure = await failureOf(registry.checkIdentity(failing, day, neverAborted()));
      expect(failure.reason).toBe('upstream');
    }
    expect(lines.filter((line) => JSON.parse(line).event === 'provider_failed')).toEqual([]);
    const other = completeNationalId('999000001');
    expect(await registry.checkIdentity(other, day, neverAborted())).toBe('matched');
  });

  it('never open: a test phone that fails does not stop the messages to others', async () => {
    for (let message = 0; message < TIMES; message += 1) {
      const failure = await failureOf(sms.sendCode(messageTo(testPhone('malformed')), neverAborted()));
      expect(failure.reason).toBe('malformed');
    }
    const sent = sms.sendCode(messageTo('+989990000001', '000001'), neverAborted());
    expect(await sent).toEqual({ provider: 'sandbox' });
  });
});

describe('the codes of a sandbox stage', () => {
  it('are the last six digits of a phone of 0999', () => {
    expect(codesOf(['sandbox'])('+989990123456')).toBe('123456');
    expect(codesOf(['sandbox'])('+989990000007')).toBe('000007');
  });

  it('are random for every other phone', () => {
    const codes = Array.from({ length: 5 }, () => sandboxCode(REAL_PHONE));
    expect(new Set([...codes, '234567']).size).toBe(6);
  });

  it('are used nowhere else', () => {
    expect(codesOf(['kavenegar'])).toBe(randomCode);
    expect(codesOf(['kavenegar', 'sms-ir'])).toBe(randomCode);
  });
});

describe('the use of the sandbox', () => {
  it.each([
    [['sandbox'], 'blk_test_', true],
    [['sandbox', 'sandbox'], 'blk_test_', true],
    [['sandbox'], 'blk_live_', false],
    [['sandbox', 'jibit'], 'blk_test_', false],
    [['kavenegar', 'sandbox'], 'blk_test_', false],
    [['jibit', 'zohal'], 'blk_live_', true],
    [['jibit'], 'blk_test_', true],
  ] as readonly (readonly [readonly string[], KeyPrefix, boolean])[])(
    '%j with the keys %s is allowed: %s',
    (names, keyPrefix, isAllowed) => {
      expect(isSandboxAllowed(names, keyPrefix)).toBe(isAllowed);
    },
  );

  it('takes phones of 0999 only, and every test phone is one', () => {
    expect([REAL_PHONE, '+989980000000', '+9899900000000', '+9899900000'].map(isSandboxPhone)).toEqual(
      Array(4).fill(false),
    );
    expect(isSandboxPhone(testPhone('slow'))).toBe(true);
    expect(outcomeOfPhone('+989990000001')).toBeUndefined();
  });
});

describe('the start of a function', () => {
  const before = process.env;
  afterEach(() => {
    process.env = before;
  });

  const startWith = (environment: Record<string, string>, start: (parts: KeyedParts) => unknown) => () => {
    process.env = {
      HASH_SECRET: 'secret',
      PROVIDER_SECRET: 'secret',
      AWS_REGION: 'us-east-1',
      IDENTITY_PROVIDERS: 'sandbox',
      SMS_PROVIDERS: 'sandbox',
      KEY_PREFIX: 'blk_test_',
      SIGNING_KEYS: 'key',
      TOKEN_ISSUERS: 'https://api.example.com',
      ...environment,
    };
    start({ table: { name: 'table' } } as KeyedParts);
  };

  const REFUSAL = 'the provider "sandbox" works only alone and with blk_test_ keys';

  it.each([
    ['create-user', buildCreateUser, 'IDENTITY_PROVIDERS', 'sandbox,zohal'],
    ['send-otp', buildSendOtp, 'SMS_PROVIDERS', 'kavenegar,sandbox'],
    ['verify-otp', buildVerifyOtp, 'SMS_PROVIDERS', 'kavenegar,sandbox'],
  ])('%s accepts the sandbox alone and with test keys, and refuses it otherwise', (_, start, list, mixed) => {
    expect(startWith({}, start)).not.toThrow();
    expect(startWith({ KEY_PREFIX: 'blk_live_' }, start)).toThrow(REFUSAL);
    expect(startWith({ [list]: mixed }, start)).toThrow(REFUSAL);
    expect(startWith({ KEY_PREFIX: '' }, start)).toThrow(
      'environment variables missing or wrong: KEY_PREFIX',
    );
  });
});
