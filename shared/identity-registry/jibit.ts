/**
 * Jibit "Identicator": `GET /v1/services/identity` and `/v1/services/matching` with an access token. A verdict is 200 with the fields
 * below; an error is 4xx or 5xx with `{ "code" }` or, in older responses, `{ "errors": [{ "code" }] }`.
 */
import * as v from 'valibot';
import { failedReply, type ProviderReply } from '#shared/providers/exchange.ts';
import { provider } from '#shared/providers/provider.ts';
import { type CallSite, reasonsByCode } from '#shared/providers/unavailable.ts';
import { toLocalPhone } from '#shared/values/phone.ts';
import { accountSchema, errorCodeOf, jibitInquiries } from './jibit-tokens.ts';
import { formatDay, IDENTITY, type IdentityRegistry, OWNERSHIP } from './port.ts';

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
  // Jibit could not decide. This is not a mismatch.
  undecided: ['matching.unknown'],
  credentials: ['forbidden'],
  quota: ['daily_limit.reached'],
  balance: ['balance.not_enough'],
  upstream: ['providers.not_available', 'server.error', 'handler.not_found'],
});

const NOT_FOUND = 'identity_info.not_found';

/** The record of a person. The record of another person is no verdict. */
const personSchema = (nationalId: string) =>
  v.object({
    identityInfo: v.object({ nationalCode: v.optional(v.literal(nationalId)), alive: v.boolean() }),
  });
const matchSchema = v.object({ matched: v.boolean() });

export const jibit = provider({
  name: 'jibit',
  credentials: accountSchema,
  open(account): IdentityRegistry {
    const inquire = jibitInquiries(account);
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
        const { identityInfo } = parse(site, personSchema(nationalId), reply);
        return identityInfo.alive ? 'matched' : 'deceased';
      },
      async checkPhoneOwnership(nationalId, phone, signal) {
        const site = { provider: 'jibit', operation: OWNERSHIP };
        const query = new URLSearchParams({ nationalCode: nationalId, mobileNumber: toLocalPhone(phone) });
        const reply = await inquire(site, `/v1/services/matching?${query}`, signal);
        return parse(site, matchSchema, reply).matched ? 'matched' : 'not_matched';
      },
    };
  },
});

/** Returns the fields of a response. Throws the failure that it means if they are not there. */
const parse = <Schema extends v.GenericSchema>(
  site: CallSite,
  schema: Schema,
  reply: ProviderReply,
): v.InferOutput<Schema> => {
  const result = v.safeParse(schema, reply.json);
  if (reply.status === 200 && result.success) return result.output;
  throw failedReply(site, reply, REASONS.get(errorCodeOf(reply)));
};
