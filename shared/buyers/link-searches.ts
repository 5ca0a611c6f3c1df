/** The persons that somebody named beside a phone without a link to them: a bound on the national ids that its owner can try. */
import * as v from 'valibot';
import { type Problem, problem } from '#shared/problems.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';

/** After this many different persons in the window, the phone gets no list. */
export const MAX_CLAIMED_PERSONS = 5;

const WINDOW_MS = 86_400_000;

const searchesSchema = v.object({
  /** When each person was named, by its keyed hash (epoch milliseconds). */
  persons: v.optional(v.record(v.string(), v.number()), {}),
  /** Raised by each write. */
  version: v.optional(v.number(), 0),
});

export type LinkSearches = v.InferOutput<typeof searchesSchema>;

/** Of the records under each key of the hash secret. Writes go to the first. */
export const mergedSearches = (items: readonly unknown[]): LinkSearches => {
  const records = items.map((item) => v.parse(searchesSchema, item ?? {}));
  return {
    persons: Object.assign({}, ...records.map(({ persons }) => persons)),
    version: records[0]?.version ?? 0,
  };
};

const recent = ({ persons }: LinkSearches, nowMs: number): [string, number][] =>
  Object.entries(persons).filter(([, atMs]) => Math.abs(nowMs - atMs) < WINDOW_MS);

/** Retry-After until the first person leaves the window. */
export const searchRefusal = (searches: LinkSearches, nowMs: number): Problem | undefined => {
  const times = recent(searches, nowMs).map(([, atMs]) => atMs);
  if (times.length < MAX_CLAIMED_PERSONS) return undefined;
  const leftMs = Math.min(...times) + WINDOW_MS - nowMs;
  return problem('too_many_attempts', { retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)) });
};

/** Undefined if the record holds the person already. */
export const withPerson = (
  searches: LinkSearches,
  person: KeyedHash,
  nowMs: number,
): (LinkSearches & { readonly ttl: number }) | undefined => {
  const kept = recent(searches, nowMs);
  if (kept.some(([hash]) => person.isOf(hash))) return undefined;
  return {
    persons: Object.fromEntries([...kept, [person.current, nowMs]]),
    version: searches.version + 1,
    ttl: Math.ceil((nowMs + WINDOW_MS) / 1000),
  };
};
