/** Simulates Zohal's inquiries: fixed bearer token, JSON body, verdict in `result` and `response_body`. */
import { randomBase62 } from '#shared/base62.ts';
import { outcomeOfPerson } from '#shared/providers/test-identities.ts';
import { parseNationalId } from '#shared/values/national-id.ts';
import {
  type FaultReplies,
  failureOf,
  isDay,
  jsonFields,
  type SimulatedProvider,
  type SimulatedReply,
} from './simulated-provider.ts';

const OPERATIONS: Readonly<Record<string, string>> = {
  'POST /services/inquiry/national_identity_inquiry': 'identity',
  'POST /services/inquiry/shahkar': 'ownership',
};

const refuse = (status: number, result: number, errorCode: string | null): SimulatedReply => ({
  status,
  json: { result, response_body: { data: null, message: 'درخواست انجام نشد', error_code: errorCode } },
});

const success = (data: Readonly<Record<string, unknown>>): SimulatedReply => ({
  status: 200,
  json: { result: 1, response_body: { data, message: 'موفق', error_code: null } },
});

const FAULT_REPLIES: FaultReplies = {
  unauthorized: refuse(401, 4, 'unauthorized'),
  token_expired: refuse(401, 4, 'invalid_token'),
  quota: { status: 429, json: { message: 'too many requests' } },
  balance: refuse(403, 4, 'permission_denied'),
  blocked_address: { status: 403, json: { message: 'address not allowed' } },
  upstream_down: refuse(503, 6, 'service_unavailable'),
  server_error: refuse(500, 5, 'internal_error'),
  error_in_200: refuse(200, 5, 'internal_error'),
  undecided: refuse(200, 6, null),
  rejected: refuse(400, 6, 'NATIONAL_ID_INVALID'),
};

/** A simulated Zohal with one account. */
export const simulatedZohal = (): SimulatedProvider => {
  const token = randomBase62(40);
  return {
    credentials: { token },
    operationOf: ({ method, path }) => OPERATIONS[`${method} ${path}`],
    unknownPath: refuse(404, 4, 'invalid'),
    respond({ headers, body }, operation, fault) {
      if (fault !== undefined) return FAULT_REPLIES[fault];
      if (headers.authorization !== `Bearer ${token}`) return FAULT_REPLIES.unauthorized;
      const sent = jsonFields(body);
      const nationalId = sent?.national_code;
      if (sent === undefined || typeof nationalId !== 'string') return refuse(400, 4, 'invalid');
      if (parseNationalId(nationalId) !== nationalId) return FAULT_REPLIES.rejected;
      const failure = failureOf(outcomeOfPerson(nationalId), FAULT_REPLIES);
      return failure ?? (operation === 'identity' ? identity(nationalId, sent) : shahkar(nationalId, sent));
    },
  };
};

const identity = (nationalId: string, sent: Readonly<Record<string, unknown>>): SimulatedReply => {
  if (!isDay(sent.birth_date, /^(\d{4})\/(\d{2})\/(\d{2})$/)) return refuse(400, 4, 'invalid');
  const outcome = outcomeOfPerson(nationalId);
  if (outcome === 'not_found')
    return success({ matched: false, first_name: null, last_name: null, alive: null });
  return success({
    matched: true,
    first_name: 'سارا',
    last_name: 'آزمایشی',
    father_name: 'نمونه',
    national_code: nationalId,
    alive: outcome !== 'deceased',
    is_dead: outcome === 'deceased',
  });
};

const shahkar = (nationalId: string, { mobile }: Readonly<Record<string, unknown>>): SimulatedReply => {
  if (!/^09\d{9}$/.test(String(mobile))) return refuse(400, 4, 'invalid');
  return success({ matched: outcomeOfPerson(nationalId) !== 'not_owner' });
};
