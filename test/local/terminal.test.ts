import { readyText, requestLine } from '#local/terminal.ts';
import { routes } from '#shared/routes.ts';

const NOON = new Date(2026, 10, 21, 12, 0, 1);

describe('requestLine', () => {
  it('says time, method, path, status, duration and operation', () => {
    const line = requestLine(
      { method: 'POST', route: routes['create-user'], status: 201, durationMs: 34 },
      NOON,
    );
    expect(line).toBe('12:00:01  POST /v1/users  201  34 ms  create-user');
  });

  it('never shows a path or a method that is none of ours: it may be anything', () => {
    const line = requestLine({ method: '09121234567', route: undefined, status: 404, durationMs: 1 }, NOON);
    expect(line).toBe('12:00:01  (method) (unknown path)  404  1 ms  -');
  });
});

describe('readyText', () => {
  const keys = {
    free: 'k_free',
    professional: 'k_pro',
    read_only: 'k_read',
    write_only: 'k_write',
    app: 'k_app',
  };
  const text = readyText({
    base_url: 'http://localhost:3000',
    seller_id: 'sel_1',
    keys,
    other_seller: { seller_id: 'sel_2', key: 'k_other' },
  });

  it('shows where the service is and every key', () => {
    for (const part of [
      'Ready: http://localhost:3000',
      'sel_1',
      'sel_2',
      'k_other',
      ...Object.values(keys),
    ]) {
      expect(text).toContain(part);
    }
  });

  it('shows each of the four operations as a curl line', () => {
    for (const name of ['send-otp', 'verify-otp', 'create-user', 'list-users'] as const) {
      expect(text).toMatch(new RegExp(`curl -s '?http://localhost:3000${routes[name].path}`));
    }
  });
});
