/** Zohal: JSON with a fixed bearer token. Not the HTTP status is the verdict but `result`, together with `error_code`. */
import * as v from 'valibot';
import { exchange } from '#shared/providers/exchange.ts';
import { baseUrl, credential, provider } from '#shared/providers/provider.ts';
import { codedFailure, type ProviderReply, unreadableReply } from '#shared/providers/reply.ts';
import { type CallSite, reasonsByCode } from '#shared/providers/unavailable.ts';
import { toLocalPhone } from '#shared/values/phone.ts';
import { formatDay, IDENTITY, type IdentityRegistry, OWNERSHIP } from './port.ts';

const credentialsSchema = v.object({
  token: credential,
  base_url: baseUrl('https://service.zohal.io/api/v0'),
});

const SUCCEEDED = 1;

/** The meaning of an `error_code`, with any `result`: the sources disagree on the numbers, not on the codes. */
const REASONS_BY_CODE = reasonsByCode({
  credentials: ['not_authenticated', 'unauthorized', 'invalid_token', 'permission_denied'],
  upstream: ['internal_error', 'service_unavailable'],
  rejected: ['invalid', 'NATIONAL_ID_INVALID'],
});

/** The meaning of a `result` without a known `error_code`. */
const REASONS_BY_RESULT = reasonsByCode({
  // The sources disagree whether our request or our token is wrong.
  rejected: [4],
  upstream: [5],
  // Documented as bad input or a temporary failure.
  undecided: [6],
});

const envelopeSchema = v.object({
  result: v.number(),
  response_body: v.nullish(
    v.object({ data: v.optional(v.unknown()), error_code: v.nullish(v.union([v.string(), v.number()])) }),
  ),
});

const matchSchema = v.object({ matched: v.boolean() });

const aliveSchema = v.object({ alive: v.nullish(v.boolean()), is_dead: v.nullish(v.boolean()) });

/** The record of another person is no verdict. */
const personSchema = (nationalId: string) =>
  v.variant('matched', [
    v.object({ matched: v.literal(false) }),
    v.object({
      matched: v.literal(true),
      national_code: v.nullish(v.literal(nationalId)),
      ...aliveSchema.entries,
    }),
  ]);

type Inquiry = readonly [name: string, body: Record<string, string>];

export const zohal = provider({
  name: 'zohal',
  credentials: credentialsSchema,
  open({ token, base_url: base }): IdentityRegistry {
    const inquire = (site: CallSite, [inquiry, body]: Inquiry, signal: AbortSignal) => {
      const url = `${base}/services/inquiry/${inquiry}`;
      return exchange(site, { url, headers: { authorization: `Bearer ${token}` }, body }, signal);
    };

    return {
      async checkIdentity(nationalId, birthDate, signal) {
        const site = { provider: 'zohal', operation: IDENTITY };
        const body = { national_code: nationalId, birth_date: formatDay(birthDate, '/') };
        const reply = await inquire(site, ['national_identity_inquiry', body], signal);
        const person = parse(site, personSchema(nationalId), reply);
        if (!person.matched) return 'not_found';
        const isDead = deathOf(person);
        if (isDead === undefined) throw unreadableReply(site, reply);
        return isDead ? 'deceased' : 'matched';
      },
      async checkPhoneOwnership(nationalId, phone, signal) {
        const site = { provider: 'zohal', operation: OWNERSHIP };
        const body = { national_code: nationalId, mobile: toLocalPhone(phone) };
        const { matched } = parse(site, matchSchema, await inquire(site, ['shahkar', body], signal));
        return matched ? 'matched' : 'not_matched';
      },
    };
  },
});

/** Returns whether the person is dead; undefined if both fields are missing or contradict each other. */
const deathOf = ({ alive, is_dead: isDead }: v.InferOutput<typeof aliveSchema>): boolean | undefined => {
  if (typeof alive !== 'boolean') return isDead ?? undefined;
  return isDead === alive ? undefined : !alive;
};

const parse = <Schema extends v.GenericSchema>(
  site: CallSite,
  schema: Schema,
  reply: ProviderReply,
): v.InferOutput<Schema> => {
  const envelope = v.safeParse(envelopeSchema, reply.json);
  if (!envelope.success) throw unreadableReply(site, reply);
  const { result, response_body: body } = envelope.output;
  const code = body?.error_code ?? undefined;
  if (result !== SUCCEEDED || code !== undefined) {
    throw codedFailure(site, reply, reasonOf(reply, result, code));
  }
  const data = v.safeParse(schema, body?.data);
  if (reply.status === 200 && data.success) return data.output;
  throw unreadableReply(site, reply);
};

/** Returns the reason by `error_code`, else by an HTTP status about credentials, else by `result`. */
const reasonOf = ({ status }: ProviderReply, result: number, code: string | number | undefined) => {
  const isDenied = status === 401 || status === 403;
  return REASONS_BY_CODE.get(code) ?? (isDenied ? 'credentials' : REASONS_BY_RESULT.get(result));
};
