/** Jibit "Identicator". A verdict is 200; an error is 4xx or 5xx with `{ "code" }` or, in older responses, `{ "errors": [{ "code" }] }`. */
import * as v from 'valibot';
import { cachedPromise } from '#shared/cached-promise.ts';
import { exchange, type ProviderRequest } from '#shared/providers/exchange.ts';
import { baseUrl, credential, provider } from '#shared/providers/provider.ts';
import { codedFailure, type ProviderReply, unreadableReply } from '#shared/providers/reply.ts';
import {
  type CallSite,
  type ProviderUnavailable,
  reasonsByCode,
  untilAborted,
} from '#shared/providers/unavailable.ts';
import { toLocalPhone } from '#shared/values/phone.ts';
import { formatDay, IDENTITY, type IdentityRegistry, OWNERSHIP } from './port.ts';

/** The timeout of a token request. It serves many callers, so it does not end with the signal of the caller that began it. */
const TOKEN_TIMEOUT_MS = 5000;

const TOKEN_SITE: CallSite = { provider: 'jibit', operation: 'token' };

const pairSchema = v.object({
  // What a header can hold. Any other token would fail each inquiry until the container ends.
  accessToken: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,8192}$/)),
  refreshToken: v.pipe(v.string(), v.minLength(1)),
});

type TokenPair = v.InferOutput<typeof pairSchema>;

const credentialsSchema = v.object({
  api_key: credential,
  secret_key: credential,
  base_url: baseUrl('https://napi.jibit.ir/ide'),
});

/**
 * Makes inquiries with the access token of an account. Its lifetime is not documented, so it is used until Jibit refuses it, then renewed
 * with the refresh token or the credentials, and the inquiry is repeated. Concurrent callers share one renewal.
 */
const inquiriesOf = (account: v.InferOutput<typeof credentialsSchema>) => {
  const { api_key: apiKey, secret_key: secretKey, base_url: base } = account;
  const post = (path: string, body: Readonly<Record<string, string>>) =>
    exchange(TOKEN_SITE, { url: `${base}${path}`, body }, AbortSignal.timeout(TOKEN_TIMEOUT_MS));

  const generate = async (): Promise<TokenPair> => {
    const reply = await post('/v1/tokens/generate', { apiKey, secretKey });
    const pair = pairIn(reply);
    if (pair === undefined) throw tokenFailure(reply);
    return pair;
  };

  const refresh = async (refused: TokenPair): Promise<TokenPair> =>
    pairIn(await post('/v1/tokens/refresh', refused)) ?? generate();

  let load = cachedPromise(generate);

  return async (site: CallSite, path: string, signal: AbortSignal): Promise<ProviderReply> => {
    const inquiry = ({ accessToken }: TokenPair): ProviderRequest => ({
      url: `${base}${path}`,
      headers: { authorization: `Bearer ${accessToken}` },
    });
    const loadBefore = load;
    const pair = await untilAborted(site, loadBefore(), signal);
    const reply = await exchange(site, inquiry(pair), signal);
    if (!isTokenRefused(reply)) return reply;
    // Unless another caller has renewed the token meanwhile.
    if (load === loadBefore) load = cachedPromise(() => refresh(pair));
    const renewed = await untilAborted(site, load(), signal);
    return exchange(site, inquiry(renewed), signal);
  };
};

/** By Jibit's error code, or by a 401 without a code. A 403 without a code comes from a system between us and Jibit. */
const isTokenRefused = (reply: ProviderReply): boolean => {
  const code = errorCodeOf(reply);
  return code === 'forbidden' || (code === undefined && reply.status === 401);
};

const pairIn = ({ status, json }: ProviderReply): TokenPair | undefined => {
  const result = v.safeParse(pairSchema, json);
  return status === 200 && result.success ? result.output : undefined;
};

/** Any error code except those of Jibit's own failures means wrong credentials. Without token and code it is about Jibit: `malformed`, JSON too. */
const tokenFailure = (reply: ProviderReply): ProviderUnavailable => {
  const code = errorCodeOf(reply);
  if (code === undefined) return unreadableReply(TOKEN_SITE, { ...reply, json: undefined });
  return codedFailure(TOKEN_SITE, reply, REASONS.get(code) === 'upstream' ? 'upstream' : 'credentials');
};

const errorSchema = v.union([
  v.object({ code: v.string() }),
  v.object({ errors: v.tupleWithRest([v.object({ code: v.string() })], v.unknown()) }),
]);

const errorCodeOf = ({ status, json }: ProviderReply): string | undefined => {
  const error = v.safeParse(errorSchema, json);
  if (status < 400 || !error.success) return undefined;
  return 'code' in error.output ? error.output.code : error.output.errors[0].code;
};

/** Every documented error code except `identity_info.not_found`, which is a verdict. */
const REASONS = reasonsByCode({
  rejected: [
    'nationalCode.not_valid',
    'required_is.nationalCode',
    'mobileNumber.not_valid',
    'birthDate.not_valid',
    'birthDate.is_required',
    'query_parameters.not_provided',
    'parameters.not_acceptable',
    'invalid.request_body',
    'invalid.argument',
    'fida.is_required',
    'fida.not_valid',
    'fida.black_listed',
  ],
  undecided: ['matching.unknown'],
  credentials: ['forbidden'],
  quota: ['daily_limit.reached'],
  balance: ['balance.not_enough'],
  upstream: ['providers.not_available', 'server.error', 'handler.not_found'],
});

const NOT_FOUND = 'identity_info.not_found';

/** The record of another person is no verdict. */
const personSchema = (nationalId: string) =>
  v.object({
    identityInfo: v.object({ nationalCode: v.optional(v.literal(nationalId)), alive: v.boolean() }),
  });
const matchSchema = v.object({ matched: v.boolean() });

export const jibit = provider({
  name: 'jibit',
  credentials: credentialsSchema,
  open(account): IdentityRegistry {
    const inquire = inquiriesOf(account);
    return {
      async checkIdentity(nationalId, birthDate, signal) {
        const site = { provider: 'jibit', operation: IDENTITY };
        const query = new URLSearchParams({
          nationalCode: nationalId,
          birthDate: formatDay(birthDate),
          withoutPhoto: 'true',
          completeInfo: 'false',
        });
        const reply = await inquire(site, `/v1/services/identity?${query}`, signal);
        if (errorCodeOf(reply) === NOT_FOUND && reply.status < 500) return 'not_found';
        const { identityInfo } = fieldsOf(site, personSchema(nationalId), reply);
        return identityInfo.alive ? 'matched' : 'deceased';
      },
      async checkPhoneOwnership(nationalId, phone, signal) {
        const site = { provider: 'jibit', operation: OWNERSHIP };
        const query = new URLSearchParams({ nationalCode: nationalId, mobileNumber: toLocalPhone(phone) });
        const reply = await inquire(site, `/v1/services/matching?${query}`, signal);
        return fieldsOf(site, matchSchema, reply).matched ? 'matched' : 'not_matched';
      },
    };
  },
});

/** Returns the fields of a successful response. Throws ProviderUnavailable for any other. */
const fieldsOf = <Schema extends v.GenericSchema>(
  site: CallSite,
  schema: Schema,
  reply: ProviderReply,
): v.InferOutput<Schema> => {
  const result = v.safeParse(schema, reply.json);
  if (reply.status === 200 && result.success) return result.output;
  const code = errorCodeOf(reply);
  if (code === undefined) throw unreadableReply(site, reply);
  throw codedFailure(site, reply, REASONS.get(code));
};
