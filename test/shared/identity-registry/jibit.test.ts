import type { UnavailableReason } from '#shared/providers/unavailable.ts';
import { failureOf, neverAborted, summaryOf } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import type { ReceivedRequest } from '#test/shared/providers/scripted-server.ts';
import { DAY, ID, PHONE, record, scriptedJibit } from './scripted-jibit.ts';

quietLog();
const { server, replying, paths } = scriptedJibit();

describe('the request', () => {
  it('requests the record without the photo, with the day of birth without separators', async () => {
    await replying(() => record()).checkIdentity(ID, DAY, neverAborted());
    const { method, path, query, headers } = server.requests[1] as ReceivedRequest;
    expect([method, path, Object.fromEntries(query), headers.authorization]).toEqual([
      'GET',
      '/ide/v1/services/identity',
      { nationalCode: ID, birthDate: '13700105', withoutPhoto: 'true', completeInfo: 'false' },
      'Bearer t1',
    ]);
  });

  it('requests the match of a phone in its local form', async () => {
    await replying(() => ({ status: 200, json: { matched: true } })).checkPhoneOwnership(
      ID,
      PHONE,
      neverAborted(),
    );
    const { method, path, query } = server.requests[1] as ReceivedRequest;
    expect([method, path, Object.fromEntries(query)]).toEqual([
      'GET',
      '/ide/v1/services/matching',
      { nationalCode: ID, mobileNumber: '09990000001' },
    ]);
  });
});

/** Jibit's documented error codes: HTTP status, reason, and the number of inquiries sent. */
const CODES: readonly (readonly [string, number, UnavailableReason, number])[] = [
  ['nationalCode.not_valid', 400, 'rejected', 1],
  ['required_is.nationalCode', 400, 'rejected', 1],
  ['mobileNumber.not_valid', 400, 'rejected', 1],
  ['birthDate.not_valid', 400, 'rejected', 1],
  ['birthDate.is_required', 400, 'rejected', 1],
  ['query_parameters.not_provided', 400, 'rejected', 1],
  ['parameters.not_acceptable', 400, 'rejected', 1],
  ['invalid.request_body', 400, 'rejected', 1],
  ['invalid.argument', 400, 'rejected', 1],
  ['fida.is_required', 400, 'rejected', 1],
  ['fida.not_valid', 400, 'rejected', 1],
  ['fida.black_listed', 400, 'rejected', 1],
  ['matching.unknown', 400, 'undecided', 1],
  ['matching.unknown', 404, 'undecided', 1],
  ['daily_limit.reached', 429, 'quota', 1],
  ['balance.not_enough', 400, 'balance', 1],
  ['balance.not_enough', 402, 'balance', 1],
  ['providers.not_available', 503, 'upstream', 2],
  ['server.error', 500, 'upstream', 2],
  ['handler.not_found', 404, 'upstream', 2],
];

const OPERATIONS = ['checkIdentity', 'checkPhoneOwnership'] as const;

const inquire = (jibit: ReturnType<typeof replying>, operation: (typeof OPERATIONS)[number]) =>
  ({
    checkIdentity: () => jibit.checkIdentity(ID, DAY, neverAborted()),
    checkPhoneOwnership: () => jibit.checkPhoneOwnership(ID, PHONE, neverAborted()),
  })[operation]();

describe.each(OPERATIONS)('%s', (operation) => {
  it.each(CODES)(
    'treats %s (HTTP %i) as %s, inquires %i time(s), and returns no verdict',
    async (code, status, reason, inquiries) => {
      const jibit = replying(() => ({ status, json: { code, message: 'پیام' } }));
      expect(summaryOf(await failureOf(inquire(jibit, operation)))).toEqual({ reason, delivery: 'not_sent' });
      expect(paths().filter((path) => path.startsWith('services'))).toHaveLength(inquiries);
    },
  );

  it('reads the older form of an error', async () => {
    const jibit = replying(() => ({
      status: 400,
      json: { errors: [{ code: 'daily_limit.reached', message: '' }] },
    }));
    expect((await failureOf(inquire(jibit, operation))).reason).toBe('quota');
  });

  it.each([
    ['an unknown code', { status: 400, json: { code: 'who.knows' } }, 'no_verdict'],
    [
      'a code that is a property of every object',
      { status: 400, json: { code: 'constructor' } },
      'no_verdict',
    ],
    ['503 without a code', { status: 503, text: '' }, 'upstream'],
    ['502 with HTML', { status: 502, text: '<html>' }, 'upstream'],
    ['403 with HTML', { status: 403, text: '<html>' }, 'blocked'],
    ['429 without a code', { status: 429, text: '' }, 'quota'],
    ['HTML with 200', { status: 200, text: '<html>' }, 'malformed'],
    ['truncated JSON', { status: 200, text: '{"matched":tr' }, 'malformed'],
    ['an empty body', { status: 200, text: '' }, 'malformed'],
    ['null', { status: 200, json: null }, 'no_verdict'],
    ['a list', { status: 200, json: [{ matched: true }] }, 'no_verdict'],
    ['an empty object', { status: 200, json: {} }, 'no_verdict'],
    [
      'a string instead of a boolean',
      { status: 200, json: { matched: 'true', identityInfo: { alive: 'true' } } },
      'no_verdict',
    ],
    [
      'a number instead of a boolean',
      { status: 200, json: { matched: 0, identityInfo: { alive: 1 } } },
      'no_verdict',
    ],
    [
      'null instead of a boolean',
      { status: 200, json: { matched: null, identityInfo: { alive: null } } },
      'no_verdict',
    ],
    ['an error code with 200', { status: 200, json: { code: 'server.error' } }, 'no_verdict'],
    [
      'identity_info.not_found with 200',
      { status: 200, json: { code: 'identity_info.not_found' } },
      'no_verdict',
    ],
    [
      'a valid body with 201',
      { status: 201, json: { matched: false, identityInfo: { alive: false } } },
      'no_verdict',
    ],
    [
      'a valid body with 500',
      { status: 500, json: { matched: false, identityInfo: { alive: false } } },
      'upstream',
    ],
  ] as const)('returns no verdict for %s', async (_what, reply, reason) => {
    expect(
      summaryOf(
        await failureOf(
          inquire(
            replying(() => reply),
            operation,
          ),
        ),
      ),
    ).toEqual({ reason, delivery: 'possibly_sent' });
  });
});

describe('the verdict', () => {
  it.each([
    [{ alive: true }, 'matched'],
    [{ alive: false }, 'deceased'],
  ])('of the record %j is %s', async (fields, verdict) => {
    expect(await replying(() => record(fields)).checkIdentity(ID, DAY, neverAborted())).toBe(verdict);
  });

  it('of identity_info.not_found is not_found', async () => {
    const jibit = replying(() => ({ status: 404, json: { code: 'identity_info.not_found' } }));
    expect(await jibit.checkIdentity(ID, DAY, neverAborted())).toBe('not_found');
  });

  it.each([500, 502, 503])(
    'of identity_info.not_found with HTTP %i is none: Jibit is down, whatever its body says',
    async (status) => {
      const jibit = replying(() => ({ status, json: { code: 'identity_info.not_found' } }));
      const failure = await failureOf(jibit.checkIdentity(ID, DAY, neverAborted()));
      expect(summaryOf(failure)).toEqual({ reason: 'upstream', delivery: 'possibly_sent' });
    },
  );

  it('on a phone is never identity_info.not_found', async () => {
    const jibit = replying(() => ({ status: 404, json: { code: 'identity_info.not_found' } }));
    await failureOf(jibit.checkPhoneOwnership(ID, PHONE, neverAborted()));
  });

  it('does not come from the record of another person', async () => {
    const jibit = replying(() => record({ nationalCode: '9990000029', alive: false }));
    expect((await failureOf(jibit.checkIdentity(ID, DAY, neverAborted()))).reason).toBe('no_verdict');
  });
});
