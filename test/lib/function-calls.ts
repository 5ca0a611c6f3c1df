import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import type { LambdaHandler } from '#shared/http/endpoint.ts';
import { type RouteName, routes } from '#shared/routes.ts';
import { tableFromEnv } from '#shared/table/client.ts';
import { newPerson } from '#test/generated-people.ts';
import { putApiKey } from '#test/shared/api-keys/put-api-key.ts';
import type { Simulators } from '#test/simulators/server.ts';
import { gatewayEvent, type Sent } from './gateway-event.ts';
import type { RecordingTable } from './recording-table.ts';

/** What a caller with the buyer app's key sends. */
export const APP = { scopes: 'buyers:register' };

const context = { getRemainingTimeInMillis: () => 20_000 } as Context;

/** Calls a function as Lambda does. */
const call = async (name: string, sent: Sent = {}) => {
  const { handler } = (await import(`#functions/${name}.ts`)) as { readonly handler: LambdaHandler };
  const { statusCode, body } = await handler(gatewayEvent(routes[name as RouteName], sent), context);
  return { status: statusCode, body: body === '' ? undefined : JSON.parse(body) };
};

const statusOf = async (name: string, sent: Sent = {}): Promise<number> => (await call(name, sent)).status;

/** Calls of the functions with the bindings that they have in Lambda, for the requests in `table-requests`. */
export const functionCalls = (recorder: RecordingTable, simulators: Simulators) => {
  /** Sends a code to a phone and returns it. */
  const sendCode = async (phone: string): Promise<string | undefined> => {
    expect(await statusOf('send-otp', { body: { phone }, ...APP })).toBe(202);
    return simulators.messages(phone)[0]?.code;
  };

  /** Signs a buyer in and returns the header with the access token. */
  const signIn = async (phone: string) => {
    const code = await sendCode(phone);
    const { status, body } = await call('verify-otp', { body: { phone, code }, ...APP });
    expect(status).toBe(200);
    return { headers: { authorization: `Bearer ${body.access_token}` } };
  };

  /** Returns a person whose phone is a registered buyer. */
  const newBuyer = async () => {
    const person = newPerson();
    await signIn(person.phone);
    return person;
  };

  /** Links a new buyer with an external id and returns the path parameters of the user. */
  const newUser = async () => {
    const { status, body } = await call('create-user', {
      body: { ...(await newBuyer()), external_id: randomUUID() },
    });
    expect(status).toBe(201);
    return { pathParameters: { id: body.id } };
  };

  /** Writes the key of the requests. */
  const newKey = (): Promise<void> => putApiKey(tableFromEnv(), 'sel_test', 'key_test');

  return { newKey, call, signIn, statusOf, sendCode, newBuyer, newUser, recorder, simulators };
};

export type FunctionCalls = ReturnType<typeof functionCalls>;
