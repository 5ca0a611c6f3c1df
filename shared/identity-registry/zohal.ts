/**
 * Zohal: `POST /services/inquiry/…` with JSON, behind a fixed bearer token. The HTTP status is no verdict: `result` is, with
 * `error_code` beside it. An answer is `{ "result": 1, "response_body": { "data": { "matched": … }, "error_code": null } }`.
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
import type { IdentityRegistry, JalaliDay } from './port.ts';
import { IDENTITY, OWNERSHIP } from './port.ts';

const credentialsSchema = v.object({
  token: credential,
  base_url: baseUrl('https://service.zohal.io/api/v0'),
});

const ANSWERED = 1;

/** What an `error_code` says, whatever `result` stands beside it: the sources disagree on the numbers, not on the words. */
const REASONS_BY_CODE: ReadonlyMap<string, UnavailableReason> = new Map(
  Object.entries<UnavailableReason>({
    not_authenticated: 'credentials',
    unauthorized: 'credentials',
    invalid_token: 'credentials',
    permission_denied: 'credentials',
    internal_error: 'upstream',
    service_unavailable: 'upstream',
    invalid: 'rejected',
    NATIONAL_ID_INVALID: 'rejected',
  }),
);

/** What a `result` says where no known word stands beside it. */
const REASONS_BY_RESULT: ReadonlyMap<number, UnavailableReason> = new Map([
  // Our request or our token: which of the two, the sources disagree.
  [4, 'rejected'],
  [5, 'upstream'],
  // By its own wording either bad input or a service that is down for a while.
  [6, 'undecided'],
]);

const envelopeSchema = v.object({
  result: v.number(),
  response_body: v.nullish(
    v.object({ data: v.optional(v.unknown()), error_code: v.nullish(v.union([v.string(), v.number()])) }),
  ),
});

const matchSchema = v.object({ matched: v.boolean() });

const personSchema = v.variant('matched', [
  v.object({ matched: v.literal(false) }),
  v.object({
    matched: v.literal(true),
    national_code: v.nullish(v.string()),
    alive: v.nullish(v.boolean()),
    is_dead: v.nullish(v.boolean()),
  }),
]);

/** `1370/01/15` */
const slashedDate = ({ year, month, day }: JalaliDay): string =>
  `${year}/${String(month).padStart(2, '0')}/${String(day).padStart(2, '0')}`;

export const zohal = provider({
  name: 'zohal',
  credentials: credentialsSchema,
  open({ token, base_url: base }): IdentityRegistry {
    const ask = (
      site: CallSite,
      inquiry: string,
      body: Readonly<Record<string, string>>,
      signal: AbortSignal,
    ): Promise<ProviderReply> =>
      exchange(
        site,
        {
          method: 'POST',
          url: `${base}/services/inquiry/${inquiry}`,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        },
        signal,
      );

    return {
      async checkIdentity(nationalId, birthDate, signal) {
        const site = { provider: 'zohal', operation: IDENTITY };
        const asked = { national_code: nationalId, birth_date: slashedDate(birthDate) };
        const person = parse(site, personSchema, await ask(site, 'national_identity_inquiry', asked, signal));
        if (!person.matched) return 'not_found';
        const isDead = deathOf(person);
        // Another person's record, or one that does not say whether the person lives, is no verdict on this one.
        if (isDead === undefined || (person.national_code ?? nationalId) !== nationalId) {
          throw unavailable(site, 'malformed', { refused: false });
        }
        return isDead ? 'deceased' : 'matched';
      },
      async checkPhoneOwnership(nationalId, phone, signal) {
        const site = { provider: 'zohal', operation: OWNERSHIP };
        const asked = { national_code: nationalId, mobile: toLocalPhone(phone) };
        const { matched } = parse(site, matchSchema, await ask(site, 'shahkar', asked, signal));
        return matched ? 'matched' : 'not_matched';
      },
    };
  },
});

/** Two fields say the same thing. Undefined if neither does, or if they contradict each other. */
const deathOf = (person: {
  readonly alive?: boolean | null | undefined;
  readonly is_dead?: boolean | null | undefined;
}): boolean | undefined => {
  const { alive, is_dead: isDead } = person;
  if (typeof alive !== 'boolean') return isDead ?? undefined;
  return typeof isDead === 'boolean' && isDead === alive ? undefined : !alive;
};

/** The data of an answer, or the failure that it stands for. */
const parse = <Schema extends v.GenericSchema>(
  site: CallSite,
  schema: Schema,
  reply: ProviderReply,
): v.InferOutput<Schema> => {
  const envelope = v.safeParse(envelopeSchema, reply.json);
  if (!envelope.success) throw undocumented(site, reply);
  const { result, response_body: body } = envelope.output;
  const isAnswer = reply.status === 200 && result === ANSWERED && (body?.error_code ?? null) === null;
  const data = v.safeParse(schema, body?.data);
  if (isAnswer && data.success) return data.output;
  throw failureOf(site, reply, result, String(body?.error_code ?? ''));
};

/** Why a reply is no answer: by its word, else by an HTTP status about credentials, else by its number, else by any status. */
const failureOf = (
  site: CallSite,
  reply: ProviderReply,
  result: number,
  code: string,
): ProviderUnavailable => {
  const isDenied = reply.status === 401 || reply.status === 403;
  const reason = REASONS_BY_CODE.get(code) ?? (isDenied ? 'credentials' : REASONS_BY_RESULT.get(result));
  return reason === undefined ? undocumented(site, reply) : unavailable(site, reason, { refused: true });
};
