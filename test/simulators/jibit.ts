/** Simulates Jibit's "Identicator": access tokens, the identity record, and the match of a phone. */
import { randomBase62 } from '#shared/base62.ts';
import type { Clock } from '#shared/clock.ts';
import { outcomeOfPerson } from '#shared/providers/test-identities.ts';
import { parseNationalId } from '#shared/values/national-id.ts';
import type { ApiFault } from './faults.ts';
import {
  type FaultReplies,
  failureOf,
  isDay,
  jsonFields,
  type SimulatedProvider,
  type SimulatedReply,
  type SimulatedRequest,
} from './simulated-provider.ts';

const ACCESS_LIFETIME_MS = 24 * 3600 * 1000;
const REFRESH_LIFETIME_MS = 48 * 3600 * 1000;

const OPERATIONS: Readonly<Record<string, string>> = {
  'POST /v1/tokens/generate': 'token',
  'POST /v1/tokens/refresh': 'token_refresh',
  'GET /v1/services/identity': 'identity',
  'GET /v1/services/matching': 'ownership',
};

const refuse = (status: number, code: string): SimulatedReply => ({
  status,
  json: { code, message: 'درخواست انجام نشد' },
});

const FORBIDDEN = refuse(403, 'forbidden');

/** Each fault in Jibit's format. */
const FAULT_REPLIES: FaultReplies = {
  unauthorized: FORBIDDEN,
  token_expired: FORBIDDEN,
  quota: refuse(429, 'daily_limit.reached'),
  balance: refuse(400, 'balance.not_enough'),
  blocked_address: { status: 403, json: { message: 'address not allowed' } },
  upstream_down: refuse(503, 'providers.not_available'),
  server_error: refuse(500, 'server.error'),
  error_in_200: { status: 200, json: { code: 'server.error', message: 'خطای داخلی' } },
  undecided: refuse(400, 'matching.unknown'),
  rejected: refuse(400, 'nationalCode.not_valid'),
};

/** The faults that token requests have too. */
const TOKEN_FAULTS: readonly ApiFault[] = [
  'blocked_address',
  'upstream_down',
  'server_error',
  'error_in_200',
];

/** The tokens of the account, in memory. */
const tokenStore = (clock: Clock) => {
  /** By access token. */
  const pairs = new Map<string, { readonly refreshToken: string; readonly issuedAtMs: number }>();

  const issuePair = (): SimulatedReply => {
    const accessToken = randomBase62(64);
    const refreshToken = randomBase62(64);
    pairs.set(accessToken, { refreshToken, issuedAtMs: clock() });
    return { status: 200, json: { accessToken, refreshToken } };
  };

  return {
    issuePair,
    refresh({ body }: SimulatedRequest): SimulatedReply {
      const { accessToken, refreshToken } = jsonFields(body) ?? {};
      if (typeof accessToken !== 'string') return refuse(400, 'accessToken.is_required');
      if (typeof refreshToken !== 'string') return refuse(400, 'refreshToken.is_required');
      const pair = pairs.get(accessToken);
      const isLive = pair !== undefined && clock() < pair.issuedAtMs + REFRESH_LIFETIME_MS;
      if (!isLive || pair.refreshToken !== refreshToken) return refuse(400, 'refreshToken.not_valid');
      pairs.delete(accessToken);
      return issuePair();
    },
    isAuthorized({ headers }: SimulatedRequest): boolean {
      const pair = pairs.get(/^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '');
      return pair !== undefined && clock() < pair.issuedAtMs + ACCESS_LIFETIME_MS;
    },
  };
};

/** A simulated Jibit with one account. */
export const simulatedJibit = (clock: Clock): SimulatedProvider => {
  const apiKey = randomBase62(32);
  const secretKey = randomBase62(48);
  const tokens = tokenStore(clock);

  const generate = ({ body }: SimulatedRequest): SimulatedReply => {
    const sent = jsonFields(body);
    if (sent === undefined) return refuse(400, 'invalid.request_body');
    if (typeof sent.apiKey !== 'string') return refuse(400, 'apiKey.is_required');
    if (typeof sent.secretKey !== 'string') return refuse(400, 'secretKey.is_required');
    const isRight = sent.apiKey === apiKey && sent.secretKey === secretKey;
    return isRight ? tokens.issuePair() : refuse(400, 'invalid.credentials');
  };

  return {
    credentials: { api_key: apiKey, secret_key: secretKey },
    operationOf: ({ method, path }) => OPERATIONS[`${method} ${path}`],
    unknownPath: refuse(404, 'handler.not_found'),
    respond(request, operation, fault) {
      if (operation === 'token' || operation === 'token_refresh') {
        if (fault === 'unauthorized') return refuse(400, 'invalid.credentials');
        if (fault !== undefined && TOKEN_FAULTS.includes(fault)) return FAULT_REPLIES[fault];
        return operation === 'token' ? generate(request) : tokens.refresh(request);
      }
      if (fault !== undefined) return FAULT_REPLIES[fault];
      if (!tokens.isAuthorized(request)) return FORBIDDEN;
      return operation === 'identity' ? identity(request.query) : matching(request.query);
    },
  };
};

/** Returns the national id of a query, or Jibit's error for an invalid one. */
const personIn = (query: URLSearchParams, known: readonly string[]): string | SimulatedReply => {
  const isKnown = [...query.keys()].every((name) => known.includes(name));
  if (!isKnown) return refuse(400, 'parameters.not_acceptable');
  const nationalId = query.get('nationalCode');
  if (nationalId === null) return refuse(400, 'required_is.nationalCode');
  if (parseNationalId(nationalId) !== nationalId) return refuse(400, 'nationalCode.not_valid');
  return failureOf(outcomeOfPerson(nationalId), FAULT_REPLIES) ?? nationalId;
};

const identity = (query: URLSearchParams): SimulatedReply => {
  const nationalId = personIn(query, ['nationalCode', 'birthDate', 'withoutPhoto', 'completeInfo']);
  if (typeof nationalId !== 'string') return nationalId;
  const birthDate = query.get('birthDate');
  if (birthDate === null) return refuse(400, 'birthDate.is_required');
  if (!isDay(birthDate, /^(\d{4})(\d{2})(\d{2})$/)) return refuse(400, 'birthDate.not_valid');
  const outcome = outcomeOfPerson(nationalId);
  if (outcome === 'not_found') return refuse(404, 'identity_info.not_found');
  const alive = outcome !== 'deceased';
  const record = {
    nationalCode: nationalId,
    birthDate,
    firstName: 'سارا',
    lastName: 'آزمایشی',
    fatherName: 'نمونه',
    gender: 'FEMALE',
    identificationNumber: '0',
    alive,
    deathDate: alive ? null : '14000101',
    providerTrackerId: randomBase62(16),
    ...(query.get('withoutPhoto') === 'true' ? {} : { photo: 'A'.repeat(20_000) }),
  };
  return { status: 200, json: { nationalCode: nationalId, birthDate, identityInfo: record } };
};

const matching = (query: URLSearchParams): SimulatedReply => {
  const nationalId = personIn(query, ['nationalCode', 'mobileNumber']);
  if (typeof nationalId !== 'string') return nationalId;
  if (!/^09\d{9}$/.test(query.get('mobileNumber') ?? '')) return refuse(400, 'mobileNumber.not_valid');
  return { status: 200, json: { matched: outcomeOfPerson(nationalId) !== 'not_owner' } };
};
