import { startupReason } from '#local/run.ts';
import { readyText, requestLine } from '#local/service-output.ts';
import { StartupError } from '#local/startup-error.ts';
import { type InputError, problemBody } from '#shared/problems.ts';
import { routes } from '#shared/routes.ts';

const NOW = new Date(2026, 10, 21, 12, 0, 1);
const ID = '1f0c9a2e-9f0e-4a53-8a44-1a1c8f0d1c11';
const link = { requestId: ID, method: 'POST', route: routes['create-user'], durationMs: 34 };
const linked = { ...link, status: 201, problem: undefined };
const refused = { ...link, status: 409, problem: problemBody('user_conflict', ID) };
const failed = { ...link, status: 503, problem: problemBody('service_unavailable', ID) };

beforeEach(() => {
  delete process.env.FORCE_COLOR;
  process.env.NO_COLOR = '1';
});

describe('requestLine', () => {
  it('shows time, status, duration, the beginning of the request id, method and path', () => {
    expect(requestLine(linked, NOW)).toBe('12:00:01  201     34 ms  1f0c9a2e  POST /v1/users');
  });

  it('shows the problem codes of all operations in one column', () => {
    const verify = { ...refused, route: routes['verify-otp'], durationMs: 12_345 };
    const lines = [refused, verify].map((completed) => requestLine(completed, NOW));
    expect(lines).toEqual([
      '12:00:01  409     34 ms  1f0c9a2e  POST /v1/users             user_conflict',
      '12:00:01  409  12345 ms  1f0c9a2e  POST /v1/auth/otp/verify   user_conflict',
    ]);
  });

  it('shows the names of wrong fields and parameters, once each', () => {
    const errors: InputError[] = [
      { pointer: '#/phone', code: 'required', detail: 'Is required.' },
      { pointer: '#/birth_date', code: 'required', detail: 'Is required.' },
      { parameter: 'phone', code: 'unknown', detail: 'Is not a known parameter.' },
    ];
    const invalid = { ...link, status: 422, problem: problemBody('validation_failed', ID, { errors }) };
    expect(requestLine(invalid, NOW)).toMatch(/ {2}validation_failed phone birth_date$/);
  });

  it('shows no unknown name that could hold a number or control the terminal', () => {
    const errors = ['#/09551234567', '#/\u001b[2J', '#/a%1b', '#/phone'].map((pointer) => ({
      pointer,
      code: 'unknown' as const,
      detail: '',
    }));
    const invalid = { ...link, status: 422, problem: problemBody('validation_failed', ID, { errors }) };
    expect(requestLine(invalid, NOW)).toMatch(/ {2}validation_failed \(unknown name\) phone$/);
  });

  it('shows no unknown path', () => {
    const unknown = { ...refused, method: 'GET', route: undefined, status: 404 };
    expect(requestLine(unknown, NOW)).toContain('  GET (unknown path)  ');
  });

  it.each([
    [linked, 32],
    [{ ...refused, status: 400 }, 33],
    [refused, 33],
    [{ ...failed, status: 500 }, 31],
    [failed, 31],
  ])('colors the status of line %#: 2xx green, 4xx yellow, 5xx red', (completed, color) => {
    delete process.env.NO_COLOR;
    process.env.FORCE_COLOR = '1';
    const line = requestLine(completed, NOW);
    expect(line).toContain(`  \u001b[${color}m${completed.status}\u001b[39m  `);
  });
});

describe('readyText', () => {
  const key = (name: string) => `blk_test_${name.padEnd(38, '0')}`;
  const keys = {
    free: key('free'),
    professional: key('pro'),
    read_only: key('read'),
    write_only: key('write'),
    app: key('app'),
    events: key('events'),
    rotate: key('rotate'),
  };
  const text = readyText({
    base_url: 'http://localhost:30000',
    dynamodb_endpoint: 'http://127.1.2.3:4',
    table_name: 'local',
    seller_id: `sel_${'0'.repeat(22)}`,
    keys,
    other_seller: { seller_id: `sel_${'1'.repeat(22)}`, key: key('other') },
  });

  it('shows the URLs, the command of the demo, and every key', () => {
    for (const part of ['Ready: http://localhost:30000', '/docs', '0999', 'npm run demo', key('other')]) {
      expect(text).toContain(part);
    }
    for (const shown of Object.values(keys)) expect(text).toContain(shown);
  });

  it('fits a terminal of 80 × 24 with the three lines of the start above it', () => {
    const lines = text.split('\n');
    expect(lines.length + 3).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });
});

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
const FULL = 'The disk of /data is full (ENOSPC): free some space, or choose another folder with --data.';

describe('startupReason', () => {
  it('names a full disk', () => {
    expect(startupReason(full, '/data')).toBe(FULL);
  });

  it('names a full disk that only the database has met', () => {
    const error = new StartupError('The embedded database did not start: database or disk is full.');
    expect(startupReason(error, '/data')).toBe(FULL);
  });

  it('returns the first error if a part fails to end because of it', () => {
    const suppressed = new SuppressedError(
      new Error('second'),
      new SuppressedError(new Error('first'), full),
    );
    expect(startupReason(suppressed, '/data')).toBe(FULL);
  });

  it('returns the sentence of a StartupError, and the stack of an unexpected error', () => {
    expect(startupReason(new StartupError('Port 3000 is taken.'), '/data')).toBe('Port 3000 is taken.');
    expect(startupReason(new TypeError('x is undefined'), '/data')).toMatch(
      /^TypeError: x is undefined\n {4}at /,
    );
  });
});
