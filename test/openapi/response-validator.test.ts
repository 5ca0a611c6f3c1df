import { problemResponse } from '#shared/http/responses.ts';
import { type Exchange, responseFaults } from './response-validator.ts';

const user = {
  id: 'usr_5Xq2ZtBv0aLkW9yRc3mNpd',
  external_id: null,
  national_id: '******0829',
  birth_date: '1370/1/15',
  phone: '+989121234567',
  display_name: 'Sara Ahmadi',
  created_at: '2026-11-21T08:30:00.000Z',
  checked_at: '2026-11-22T09:00:00.000Z',
};

const removed: Exchange = {
  method: 'DELETE',
  path: '/v1/users/usr_5Xq2ZtBv0aLkW9yRc3mNpd',
  status: 204,
  headers: { 'X-Request-Id': 'req-1', 'Cache-Control': 'no-store' },
  body: '',
};

const html = { 'X-Request-Id': 'req-1', 'Content-Type': 'text/html; charset=utf-8' };

const common = { 'X-Request-Id': 'req-1', 'Cache-Control': 'no-store', 'Content-Type': 'application/json' };

const created: Exchange = {
  method: 'POST',
  path: '/v1/users',
  status: 201,
  headers: { ...common, RateLimit: '"free";r=99;t=12', 'RateLimit-Policy': '"free";q=100;w=60' },
  body: `${JSON.stringify(user)}\n`,
};

const rejected = (
  code: Parameters<typeof problemResponse>[0],
  options: Partial<Exchange> = {},
  members: Parameters<typeof problemResponse>[2] = {},
): Exchange => {
  const { statusCode, headers, body } = problemResponse(code, 'req-1', members);
  return {
    method: 'POST',
    path: '/v1/users',
    status: statusCode,
    body,
    ...options,
    headers: { ...common, ...(headers as Record<string, string>), ...options.headers },
  };
};

describe('the validator of responses', () => {
  it.each<[string, Exchange]>([
    ['a linked user', created],
    ['a removed user', removed],
    ['a page of users', pageOf([user])],
    ['one of several problems of one status', rejected('phone_not_owned')],
    ['an exceeded rate limit', rejected('rate_limit_exceeded', {}, { retryAfterSeconds: 12 })],
    ['an unknown method', rejected('not_found', { method: 'PUT' })],
    ['a guide', { ...created, method: 'GET', path: '/docs/linking', status: 200, headers: html, body: '' }],
  ])('finds no faults in %s', (_title, exchange) => {
    expect(responseFaults(exchange)).toEqual([]);
  });

  it.each<[string, Exchange, RegExp]>([
    ['a 204 with a body', { ...removed, body: '{}' }, /has a body/],
    ['an undocumented status', { ...created, status: 202 }, /status 202 is not documented/],
    ['a missing field', withUser({ id: undefined }), /must have required property 'id'/],
    ['an additional field', withUser({ note: 'x' }), /additionalProperty":"note"/],
    ['another content type', withHeader({ 'Content-Type': 'text/html' }), /content type text\/html/],
    ['a cacheable response', withHeader({ 'Cache-Control': 'public' }), /Cache-Control is not no-store/],
    ['an undocumented header', withHeader({ 'Retry-After': '3' }), /header retry-after is not documented/],
    ['a 429 without Retry-After', rejected('rate_limit_exceeded'), /header Retry-After is missing/],
    ['a 429 without retry_after', rejected('rate_limit_exceeded'), /required property 'retry_after'/],
    ['another retry_after than Retry-After', otherRetryAfter(), /retry_after and Retry-After/],
    ['the reason of another code', reasonOfAnotherCode(), /body\/reason must be equal to one of/],
    ['a problem of another operation', rejected('code_rejected'), /body/],
    ['a problem with another request id', otherRequestId(), /request_id and X-Request-Id/],
    ['an unknown path that succeeds', { ...created, path: '/v1/nothing' }, /not in the document/],
  ])('finds %s', (_title, exchange, fault) => {
    expect(responseFaults(exchange).join('\n')).toMatch(fault);
  });
});

function pageOf(data: object[]): Exchange {
  const pages = { page: 1, page_size: 20, total: data.length, total_pages: data.length, next_after: null };
  const body = JSON.stringify({ data, ...pages });
  return { method: 'GET', path: '/v1/users?page=1', status: 200, headers: common, body: `${body}\n` };
}

function withUser(change: object): Exchange {
  return { ...created, body: `${JSON.stringify({ ...user, ...change })}\n` };
}

function withHeader(headers: Record<string, string>): Exchange {
  return { ...created, headers: { ...common, ...headers } };
}

function otherRetryAfter(): Exchange {
  return rejected('rate_limit_exceeded', { headers: { 'Retry-After': '13' } }, { retryAfterSeconds: 12 });
}

function reasonOfAnotherCode(): Exchange {
  return rejected('rate_limit_exceeded', {}, { retryAfterSeconds: 12, reason: 'searches' });
}

function otherRequestId(): Exchange {
  return rejected('user_conflict', { headers: { 'X-Request-Id': 'req-2' } });
}
