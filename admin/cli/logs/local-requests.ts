import * as v from 'valibot';
import { refusal } from '#admin/refusal.ts';
import { wrongNames } from '#local/terminal.ts';
import type { InputError } from '#shared/problems.ts';
import type { RequestLog } from './request-log.ts';

/** The part of `/_local/state` that is read here. The rest has codes and phones, which no command prints. */
const stateSchema = v.object({
  requests: v.array(
    v.object({
      id: v.string(),
      at: v.string(),
      method: v.string(),
      path: v.optional(v.string(), '(unknown path)'),
      status: v.number(),
      duration_ms: v.number(),
      problem: v.optional(
        v.object({
          code: v.string(),
          detail: v.string(),
          errors: v.optional(v.array(v.custom<InputError>(() => true)), []),
        }),
      ),
      log: v.record(v.string(), v.unknown()),
    }),
  ),
});

type Entry = v.InferOutput<typeof stateSchema>['requests'][number];

const readEntries = async (baseUrl: string): Promise<readonly Entry[]> => {
  const response = await fetch(`${baseUrl}/_local/state`).catch((cause: unknown) => {
    throw refusal('not_reachable', 'The local service does not respond. Start it again with npm start.', {
      cause,
    });
  });
  return v.parse(stateSchema, await response.json()).requests;
};

/** Returns the last requests of the service of `npm start`: it keeps 200 of them, in memory. */
export const localRequests = (baseUrl: string): RequestLog => ({
  async find({ sellerId, status = '', since, until, limit }) {
    const found = (await readEntries(baseUrl)).filter((entry) => {
      const at = Date.parse(entry.at) / 1000;
      const isOfSeller = entry.log.seller_id === sellerId;
      return isOfSeller && String(entry.status).startsWith(status) && at >= since && at <= until;
    });
    return found.slice(0, limit).map(({ id, at, method, path, status, problem, duration_ms, log }) => ({
      request_id: id,
      at,
      method,
      path,
      status,
      code: problem?.code ?? null,
      duration_ms,
      key_id: typeof log.key_id === 'string' ? log.key_id : null,
    }));
  },

  /** `requestId` may be the beginning of an id, as `npm start` shows it. */
  async linesOf(requestId) {
    const found = (await readEntries(baseUrl)).filter(({ id }) => id.startsWith(requestId));
    if (found.length > 1) {
      const ids = found.map(({ id }) => `\n  ${id}`).join('');
      throw refusal('ambiguous', `Several requests begin like this. Use an id:${ids}`);
    }
    return found.map(({ id, problem, log, ...entry }) => ({
      request_id: id,
      ...entry,
      ...(problem && {
        code: problem.code,
        detail: problem.detail,
        wrong_fields: wrongNames(problem.errors),
      }),
      ...log,
    }));
  },
});
