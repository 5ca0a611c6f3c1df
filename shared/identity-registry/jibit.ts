/**
 * Jibit "Identicator": `GET /v1/services/identity` and `/v1/services/matching`, behind an access token. An answer is 200 with the
 * fields below; a refusal is 4xx or 5xx with `{ "code" }` or, in older answers, `{ "errors": [{ "code" }] }`.
 */
import * as v from 'valibot';
import { baseUrl, credential } from '#shared/providers/base-url.ts';
import { exchange, type ProviderReply } from '#shared/providers/exchange.ts';
import { provider } from '#shared/providers/provider.ts';
import {
  type CallSite,
  type ProviderUnavailable,
  type UnavailableReason,
  unavailable,
} from '#shared/providers/unavailable.ts';
import { undocumented } from '#shared/providers/undocumented.ts';
import { toLocalPhone } from '#shared/users/phone.ts';
import { jibitRefusal } from './jibit-refusal.ts';
import { jibitTokens } from './jibit-tokens.ts';
import type { IdentityRegistry, JalaliDay } from './port.ts';
import { IDENTITY, OWNERSHIP } from './port.ts';

const credentialsSchema = v.object({
  api_key: credential,
  secret_key: credential,
  base_url: baseUrl('https://napi.jibit.ir/ide'),
});

export type JibitCredentials = v.InferOutput<typeof credentialsSchema>;

/** Every documented code but `identity_info.not_found`, which is a verdict. */
const REASONS: ReadonlyMap<string, UnavailableReason> = new Map(
  Object.entries<UnavailableReason>({
    'nationalCode.not_valid': 'rejected',
    'required_is.nationalCode': 'rejected',
    'mobileNumber.not_valid': 'rejected',
    'birthDate.not_valid': 'rejected',
    'birthDate.is_required': 'rejected',
    'query_parameters.not_provided': 'rejected',
    'parameters.not_acceptable': 'rejected',
    'invalid.request_body': 'rejected',
    'invalid.argument': 'rejected',
    'fida.is_required': 'rejected',
    'fida.not_valid': 'rejected',
    'fida.black_listed': 'rejected',
    // It could not be decided; that is not a mismatch.
    'matching.unknown': 'undecided',
    forbidden: 'credentials',
    'daily_limit.reached': 'quota',
    'balance.not_enough': 'balance',
    'providers.not_available': 'upstream',
    'server.error': 'upstream',
    'handler.not_found': 'upstream',
  }),
);

const NOT_FOUND = 'identity_info.not_found';

const personSchema = v.object({
  identityInfo: v.object({ nationalCode: v.optional(v.string()), alive: v.boolean() }),
});
const matchSchema = v.object({ matched: v.boolean() });
/** `13700115` */
const compactDate = ({ year, month, day }: JalaliDay): string =>
  `${year}${String(month).padStart(2, '0')}${String(day).padStart(2, '0')}`;

export const jibit = provider({
  name: 'jibit',
  credentials: credentialsSchema,
  open(credentials): IdentityRegistry {
    const tokens = jibitTokens(credentials);

    /** Asks with an access token; if that is refused, once more with a renewed one. */
    const ask = async (site: CallSite, path: string, signal: AbortSignal): Promise<ProviderReply> => {
      const url = `${credentials.base_url}${path}`;
      const askWith = (token: string) =>
        exchange(site, { method: 'GET', url, headers: { authorization: `Bearer ${token}` } }, signal);
      const token = await tokens.current(site, signal);
      const reply = await askWith(token);
      if (!isTokenRefused(reply)) return reply;
      return askWith(await tokens.renewed(site, token, signal));
    };

    return {
      async checkIdentity(nationalId, birthDate, signal) {
        const site = { provider: 'jibit', operation: IDENTITY };
        const query = new URLSearchParams({
          nationalCode: nationalId,
          birthDate: compactDate(birthDate),
          withoutPhoto: 'true',
          completeInfo: 'false',
        });
        const reply = await ask(site, `/v1/services/identity?${query}`, signal);
        if (jibitRefusal(reply) === NOT_FOUND && reply.status < 500) return 'not_found';
        const { identityInfo } = parse(site, personSchema, reply);
        // Another person's record is no verdict on this one.
        if ((identityInfo.nationalCode ?? nationalId) !== nationalId) {
          throw unavailable(site, 'malformed', { refused: false });
        }
        return identityInfo.alive ? 'matched' : 'deceased';
      },
      async checkPhoneOwnership(nationalId, phone, signal) {
        const site = { provider: 'jibit', operation: OWNERSHIP };
        const query = new URLSearchParams({ nationalCode: nationalId, mobileNumber: toLocalPhone(phone) });
        const reply = await ask(site, `/v1/services/matching?${query}`, signal);
        return parse(site, matchSchema, reply).matched ? 'matched' : 'not_matched';
      },
    };
  },
});

/** In Jibit's own words, or by the one status that means nothing else; a bare 403 comes from a box on the way. */
const isTokenRefused = (reply: ProviderReply): boolean =>
  jibitRefusal(reply) === 'forbidden' || (reply.status === 401 && jibitRefusal(reply) === undefined);

/** The fields of an answer, or the failure that it stands for. */
const parse = <Schema extends v.GenericSchema>(
  site: CallSite,
  schema: Schema,
  reply: ProviderReply,
): v.InferOutput<Schema> => {
  const result = v.safeParse(schema, reply.json);
  if (reply.status === 200 && result.success) return result.output;
  throw failureOf(site, reply);
};

/** Why a reply is no answer, by its documented code, or else by its status. */
const failureOf = (site: CallSite, reply: ProviderReply): ProviderUnavailable => {
  const reason = REASONS.get(jibitRefusal(reply) ?? '');
  return reason === undefined ? undocumented(site, reply) : unavailable(site, reason, { refused: true });
};
