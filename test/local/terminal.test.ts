import { readyText, requestLine } from '#local/terminal.ts';
import { allRoutes, routes } from '#shared/routes.ts';

const NOON = new Date(2026, 10, 21, 12, 0, 1);

describe('requestLine', () => {
  it('shows time, method, path, status, duration and operation', () => {
    const line = requestLine(
      { method: 'POST', route: routes['create-user'], status: 201, code: undefined, durationMs: 34 },
      NOON,
    );
    expect(line).toBe('12:00:01  POST /v1/users  201  34 ms  create-user');
  });

  it('shows the problem code beside the status', () => {
    const refused = { status: 409, code: 'user_conflict', durationMs: 34 } as const;
    const line = requestLine({ method: 'POST', route: routes['create-user'], ...refused }, NOON);
    expect(line).toBe('12:00:01  POST /v1/users  409 user_conflict  34 ms  create-user');
  });

  it('shows no unknown path', () => {
    const unknown = { method: 'GET', route: undefined, status: 404, code: 'not_found' } as const;
    const line = requestLine({ ...unknown, durationMs: 1 }, NOON);
    expect(line).toBe('12:00:01  GET (unknown path)  404 not_found  1 ms  -');
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

  it('shows the URL of the service and every key', () => {
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

  it('shows a curl line for each operation of the published chapters Users and One-time codes', () => {
    const published = allRoutes.filter(({ tag }) => tag === 'Users' || tag === 'One-time codes');
    for (const { path } of published) {
      const shown = path.replace('{id}', '\\$ID');
      expect(text).toMatch(new RegExp(`curl -s (?:-X \\w+ -w \\S+ )?'?http://localhost:3000${shown}`));
    }
  });
});
