import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Clock, systemClock } from '#shared/clock.ts';
import { applyWireFault, type Fault, isApiFault, type WireFault } from './faults.ts';
import { simulatedJibit } from './jibit.ts';
import { simulatedKavenegar } from './kavenegar.ts';
import { outbox } from './outbox.ts';
import type { SimulatedProvider, SimulatedReply, SimulatedRequest } from './simulated-provider.ts';
import { simulatedSmsIr } from './sms-ir.ts';
import { simulatedZohal } from './zohal.ts';

/** The names of the simulated providers. */
const PROVIDER_NAMES = ['jibit', 'zohal', 'kavenegar', 'sms-ir'] as const;

type ProviderName = (typeof PROVIDER_NAMES)[number];

/** Starts a simulator for each provider, each on its own port of the loopback address. */
export const startSimulators = async (clock: Clock = systemClock) => {
  const messages = outbox();
  const servers = {
    jibit: await startSimulator(simulatedJibit(clock)),
    zohal: await startSimulator(simulatedZohal()),
    kavenegar: await startSimulator(simulatedKavenegar(messages)),
    'sms-ir': await startSimulator(simulatedSmsIr(messages)),
  };
  const each = <T>(pick: (server: (typeof servers)[ProviderName]) => T) =>
    Object.fromEntries(PROVIDER_NAMES.map((name) => [name, pick(servers[name])])) as Record<ProviderName, T>;
  const providerSecret: Readonly<Record<string, unknown>> = each(({ credentials }) => credentials);
  return {
    /** The provider secret for the simulators, with new credentials at each start. */
    providerSecret,
    messages: messages.messagesTo,
    /** Sets the fault of a provider, or of one of its operations; undefined removes it. */
    setFault: (provider: ProviderName, fault: Fault | undefined, operation?: string) =>
      servers[provider].setFault(fault, operation),
    /** Returns the number of requests by provider and operation. */
    calls: () => each(({ calls }) => calls()),
    /** Resolves when the next request of an operation has arrived. */
    nextCall: (provider: ProviderName, operation: string) => servers[provider].nextCall(operation),
    async close() {
      await Promise.all(Object.values(servers).map((server) => server.close()));
    },
  };
};

export type Simulators = Awaited<ReturnType<typeof startSimulators>>;

const HOST = '127.0.0.1';
/** With these faults the provider processes the request and the response is damaged. With the others it does not process it. */
const DAMAGES_RESPONSE: readonly WireFault[] = ['wrong_types', 'huge_body', 'truncated_body'];

/** Starts a simulator on a free port of the loopback address. */
const startSimulator = async (provider: SimulatedProvider) => {
  let fault: Fault | undefined;
  let faultyOperation: string | undefined;
  const calls: Record<string, number> = {};
  const arrivals = new EventEmitter();

  const replyTo = (request: SimulatedRequest): SimulatedReply => {
    const operation = provider.operationOf(request);
    const counted = operation ?? 'unknown_path';
    calls[counted] = (calls[counted] ?? 0) + 1;
    arrivals.emit(counted);
    if (operation === undefined) return provider.unknownPath;
    const current = (faultyOperation ?? operation) === operation ? fault : undefined;
    if (current === undefined || isApiFault(current)) return provider.respond(request, operation, current);
    if (!DAMAGES_RESPONSE.includes(current)) return { wireFault: current };
    const reply = provider.respond(request, operation, undefined);
    return 'json' in reply ? { wireFault: current, json: reply.json } : reply;
  };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const reply = replyTo(await receive(incoming));
    if ('wireFault' in reply) return applyWireFault(reply.wireFault, response, reply.json);
    response.writeHead(reply.status, { 'Content-Type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify(reply.json));
  };

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  const listen = async (atPort: number): Promise<void> => {
    server.listen(atPort, HOST);
    await once(server, 'listening');
  };
  /** Closes the server and its connections at once, those that hang by design included. */
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  await listen(0);
  const { port } = server.address() as { port: number };

  return {
    /** The provider's section of the provider secret. */
    credentials: { ...provider.credentials, base_url: `http://${HOST}:${port}` },
    /** Returns the number of requests by operation, failed ones included. */
    calls: (): Readonly<Record<string, number>> => ({ ...calls }),
    nextCall: (operation: string): Promise<unknown> => once(arrivals, operation),
    /** Sets the fault of all operations or of one. A closed port affects all. */
    async setFault(next: Fault | undefined, operation?: string): Promise<void> {
      fault = next;
      faultyOperation = operation;
      if (next === 'connection_refused') await close();
      else if (!server.listening) await listen(port);
    },
    close,
  };
};

const receive = async (incoming: IncomingMessage): Promise<SimulatedRequest> => {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://simulator');
  const { method = '', headers } = incoming;
  return { method, path: pathname, query: searchParams, headers, body: await text(incoming) };
};
