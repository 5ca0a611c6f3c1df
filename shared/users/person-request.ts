/** What a link and a check of a user share: the read of everything that decides, the limits, and the paid check of the person. */
import type { Caller } from '#shared/api-keys/caller.ts';
import type { Clock } from '#shared/clock.ts';
import { readEnv } from '#shared/env.ts';
import { checkPerson, wasCalled } from '#shared/identity-registry/check-person.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { Problem, type ProblemTexts, problem } from '#shared/problems.ts';
import { assertSandboxAllowed } from '#shared/providers/sandbox.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { type CountedRequest, keyLimits } from '#shared/rate-limits/request-limits.ts';
import { stageCeilings } from '#shared/rate-limits/stage-ceilings.ts';
import { hashesFromEnv } from '#shared/secrets/keyed-hashes.ts';
import { providerSecretFromEnv } from '#shared/secrets/secret-source.ts';
import type { Table } from '#shared/table/client.ts';
import type { TransactItem } from '#shared/table/writes.ts';
import { type LinkHashes, type LinkLookup, personReader } from './link-user.ts';
import { personChecks } from './person-check-lease.ts';
import type { NewUser } from './schema.ts';

/**
 * While one of them, or one of the limits on paid checks, is used up, every link and check of the key is refused: no response tells then
 * whether a person or a buyer is known.
 */
const LIMITS = ['refused-links-per-hour', 'failed-checks-per-hour'] as const;

/** A request that names a person. */
interface PersonRequest {
  readonly body: Pick<NewUser, 'national_id' | 'birth_date' | 'phone'>;
  readonly caller: Caller;
  readonly withinPlan: Promise<CountedRequest | undefined>;
  readonly deadlineMs: number;
  /** It has waited since its limits were read. */
  readonly hasWaited: boolean;
}

interface CheckOptions<Value> {
  /** An undecided check counts as a refused link: without a verdict, its response tells what only paid checks may tell. */
  readonly countsUndecided: boolean;
  /** Writes the result and `release` in one transaction, if the registries confirm the person; undefined: it was not possible. */
  readonly write: (release: TransactItem) => Promise<Value | undefined>;
}

type PersonDeps = ReturnType<typeof buildPersonDeps>;

/** The check ended without a verdict, or none was left of the paid checks. */
const isUndecided = (error: unknown): boolean =>
  error instanceof Problem && ['verification_unavailable', 'rate_limit_exceeded'].includes(error.code);

/** Reads what decides on a request. Throws if a limit is used up. */
export const readPerson = async (
  { body, caller, withinPlan, deadlineMs, hasWaited }: PersonRequest,
  { checks, users, hashes, rateLimiter, ceilings, identityRegistry, clock }: PersonDeps,
  also: Pick<LinkLookup, 'externalId' | 'userId'>,
) => {
  const limits = keyLimits({ rateLimiter, clock }, { caller, withinPlan });
  const paidChecks = ceilings.paidChecks(caller);
  const { sellerId } = caller;
  const [person, phone] = await Promise.all([
    hashes.person(sellerId, body.national_id),
    hashes.phone(body.phone),
  ]);
  const link: LinkHashes = { sellerId, person, phone };

  const [{ record, limitStates, ...found }] = await Promise.all([
    users.lookUp({ ...link, ...also, limits: paidChecks.limits, nowMs: clock() }),
    hasWaited ? limits.recheck(...LIMITS) : limits.check(...LIMITS),
  ]);
  paidChecks.throwIfUsedUp(limitStates);

  return {
    ...found,
    link,
    /** Whether a phone hash and a day of birth, as they are stored, are those of the request. */
    isSame: (phoneHash: unknown, birthDay: string | undefined): boolean =>
      phone.isOf(phoneHash) && birthDay === body.birth_date.isoDay,

    /** Counts a refused link and returns its problem. Throws `rate_limit_exceeded`, which tells nothing, if the count is refused. */
    async refusal(
      code: 'user_conflict' | 'link_refused' | 'buyer_not_registered' | 'external_id_conflict',
      texts?: ProblemTexts,
    ): Promise<Problem> {
      await limits.consume('refused-links-per-hour');
      return problem(code, texts);
    },

    /** Makes both paid checks while no other request checks the person, then writes. Undefined: start again from the first read. */
    async check<Value>({ countsUndecided, write }: CheckOptions<Value>): Promise<Value | undefined> {
      const lease = { sellerId, personHash: person.current, record, deadlineMs, limits };
      const checked = { nationalId: body.national_id, birthDate: body.birth_date.jalali, phone: body.phone };
      try {
        const result = await checks.oneAtATime(lease, async (release) => {
          const refund = await ceilings.consumePaidCheck(caller, limits);
          await checkPerson(identityRegistry, checked, deadlineMs).catch(async (error: unknown) => {
            if (!wasCalled(error)) await refund();
            throw error;
          });
          return write(release);
        });
        return result === 'busy' ? undefined : result;
      } catch (error) {
        if (countsUndecided && isUndecided(error)) await limits.consume('refused-links-per-hour');
        throw error;
      }
    },
  };
};

interface Parts {
  readonly table: Table;
  readonly rateLimiter: RateLimiter;
  readonly clock: Clock;
}

export const buildPersonDeps = ({ table, rateLimiter, clock }: Parts) => {
  const env = readEnv(['IDENTITY_PROVIDERS', 'PAID_CHECKS_PER_DAY', 'KEY_PREFIX']);
  assertSandboxAllowed(env.IDENTITY_PROVIDERS, env.KEY_PREFIX);
  return {
    clock,
    rateLimiter,
    ceilings: stageCeilings(rateLimiter, { paidChecksPerDay: env.PAID_CHECKS_PER_DAY }, clock),
    checks: personChecks(table, clock),
    users: { lookUp: personReader(table) },
    hashes: hashesFromEnv(),
    identityRegistry: identityRegistryFrom(env.IDENTITY_PROVIDERS, providerSecretFromEnv()),
  };
};
