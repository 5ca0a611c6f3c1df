import { type InputError, PROBLEMS, problemBody, type ProblemCode as ServiceCode } from '#shared/problems.ts';
import { buyerLinking, type Options, type Wait } from '../../client/src/index.ts';

export const baseUrl = 'https://api.example.com/dev';
export const apiKey = 'blk_test_of_a_test';

export const buyer = {
  national_id: '9999150829',
  birth_date: '1370/1/15',
  phone: '+989121234567',
  display_name: 'Sara Ahmadi',
};

export const user = {
  id: 'usr_0000000000000000000001',
  external_id: null,
  ...buyer,
  national_id: '******0829',
  created_at: '2026-11-21T08:30:00.000Z',
  checked_at: '2026-11-22T09:00:00.000Z',
};

/** A response with a JSON body. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    Response.json(body, { status, headers });

/** An error response of the service. */
export const problemOf = (
  code: ServiceCode,
  headers: Record<string, string> = {},
  errors?: readonly InputError[],
) =>
  json(PROBLEMS[code].status, problemBody(code, 'req-1', { errors }), {
    'Content-Type': 'application/problem+json',
    ...headers,
  });

/** A connection that breaks. */
export const broken = (): Response => {
  throw new TypeError('fetch failed');
};

/** A client, with these options, of a service that returns these responses in order, and throws on any further request. */
export const clientWith = (options: Partial<Options>, ...responses: (() => Response)[]) => {
  const sent: Request[] = [];
  const waits: number[] = [];
  const observed: Wait[] = [];
  const client = buyerLinking({
    baseUrl,
    apiKey,
    random: () => 0.5,
    onWait: (wait) => observed.push(wait),
    sleep: async (ms) => {
      waits.push(ms);
    },
    fetch: async (request) => {
      sent.push(request);
      const respond = responses[sent.length - 1];
      if (respond === undefined) throw new Error('unexpected request');
      return respond();
    },
    ...options,
  });
  return { client, sent, waits, observed };
};

export const clientOf = (...responses: (() => Response)[]) => clientWith({}, ...responses);
