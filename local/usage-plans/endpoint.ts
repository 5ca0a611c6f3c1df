import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import type { APIGatewayProxyResult } from 'aws-lambda';
import * as v from 'valibot';
import { Refusal } from '#admin/refusal.ts';
import type { UsagePlans } from '#admin/usage-plans/port.ts';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { jsonResult } from '../gateway/proxy-event.ts';

/** Where the local gateway serves the usage plans for the admin CLI: `POST <path>/<method>` with a JSON array of its arguments. */
export const USAGE_PLANS_PATH = '/_local/usage-plans';

const id = v.string();
const plan = v.picklist(PLAN_NAMES);
const day = v.pipe(v.string(), v.isoDate());

/** The arguments of each method of the port. */
const ARGUMENTS = {
  createKey: v.tuple([v.strictObject({ name: v.string(), value: v.string(), enabled: v.boolean() })]),
  deleteKey: v.tuple([id]),
  setEnabled: v.tuple([id, v.boolean()]),
  listKeys: v.tuple([v.string()]),
  countKeys: v.tuple([v.number()]),
  attach: v.tuple([id, plan]),
  detach: v.tuple([id, plan]),
  listMembers: v.tuple([plan]),
  usage: v.tuple([id, plan, day, day]),
  flushAuthorizerCache: v.tuple([]),
} as const satisfies Record<keyof UsagePlans, v.GenericSchema>;

/** The body of a response that is not 200. `code` is that of a Refusal. */
export interface FailedCall {
  readonly code?: string;
  readonly message: string;
}

const isMethod = (name: string): name is keyof UsagePlans => Object.hasOwn(ARGUMENTS, name);

/**
 * Serves the usage plans over HTTP. `token` is the secret of the run, from `.local/admin.json`: only who may read that file may call, so
 * neither a web page nor another user of the machine can.
 */
export const usagePlansEndpoint =
  (usagePlans: UsagePlans, token: string) =>
  async (request: IncomingMessage): Promise<APIGatewayProxyResult> => {
    const name = (request.url ?? '').slice(USAGE_PLANS_PATH.length + 1);
    if (request.headers.authorization !== `Bearer ${token}`) return failed(403, { message: 'Wrong token.' });
    if (request.method !== 'POST' || !isMethod(name)) return failed(404, { message: 'No such method.' });
    try {
      const args = v.parse(ARGUMENTS[name], await json(request));
      const call = usagePlans[name] as (...args: unknown[]) => Promise<unknown> | AsyncIterable<unknown>;
      const result = call(...args);
      const isList = Symbol.asyncIterator in result;
      return jsonResult(200, { result: isList ? await Array.fromAsync(result) : await result });
    } catch (error) {
      const { message } = error as Error;
      return failed(409, error instanceof Refusal ? { code: error.code, message } : { message });
    }
  };

const failed = (status: number, call: FailedCall): APIGatewayProxyResult => jsonResult(status, call);
