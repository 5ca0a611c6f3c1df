import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#shared/clock.ts';
import { systemClock } from '#shared/clock.ts';
import { faultPanel, type ProviderFaults } from './fault-panel.ts';
import { simulatedJibit } from './jibit.ts';
import { simulatedKavenegar } from './kavenegar.ts';
import { outbox, type SentMessage } from './outbox.ts';
import { startSimulator } from './simulator-server.ts';
import { simulatedSmsIr } from './sms-ir.ts';
import { simulatedZohal } from './zohal.ts';

export type { SentMessage } from './outbox.ts';

/** The names of the simulated providers. */
export const PROVIDER_NAMES = ['jibit', 'zohal', 'kavenegar', 'sms-ir'] as const;

type ProviderName = (typeof PROVIDER_NAMES)[number];

/** Simulators of all providers, each on its own port of the loopback address. */
export interface Simulators {
  /** The provider secret for the simulators, with new credentials at each start. */
  readonly providerSecret: Readonly<Record<string, unknown>>;
  /** Returns the messages to a phone (E.164), the newest first. */
  messages(phone: string): readonly SentMessage[];
  /** Calls `listener` for each message. Returns a function that stops this. */
  onMessage(listener: (message: SentMessage) => void): () => void;
  readonly faults: ProviderFaults<ProviderName>;
  /** Serves `GET` and `POST /_local/faults`. */
  handleFaults(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Returns the number of requests by provider and operation. */
  calls(): Readonly<Record<ProviderName, Readonly<Record<string, number>>>>;
  /** Expires every access token issued so far. */
  expireTokens(): void;
  close(): Promise<void>;
}

/** Starts a simulator for each provider. */
export const startSimulators = async (clock: Clock = systemClock): Promise<Simulators> => {
  const messages = outbox(clock);
  const jibit = simulatedJibit(clock);
  const providers = {
    jibit,
    zohal: simulatedZohal(),
    kavenegar: simulatedKavenegar(messages),
    'sms-ir': simulatedSmsIr(messages),
  };
  const started = await Promise.all(
    PROVIDER_NAMES.map(async (name) => ({
      name,
      provider: providers[name],
      server: await startSimulator(providers[name]),
    })),
  );
  const each = <T>(pick: (simulator: (typeof started)[number]) => T) =>
    Object.fromEntries(started.map((simulator) => [simulator.name, pick(simulator)])) as Record<
      ProviderName,
      T
    >;
  const servers = each(({ server }) => server);
  const faults: Simulators['faults'] = {
    set: (provider, fault, operation) => servers[provider].setFault(fault, operation),
    list: () => started.map(({ name, server }) => ({ provider: name, fault: server.fault() })),
  };
  return {
    providerSecret: each(({ provider, server }) => provider.credentials(server.baseUrl)),
    messages: messages.messagesTo,
    onMessage: messages.onMessage,
    faults,
    handleFaults: faultPanel(faults),
    calls: () => each(({ server }) => server.calls()),
    expireTokens: jibit.expireTokens,
    async close() {
      await Promise.all(started.map(({ server }) => server.close()));
    },
  };
};
