import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#shared/clock.ts';
import { systemClock } from '#shared/clock.ts';
import { faultPanel } from './fault-panel.ts';
import type { Fault } from './faults.ts';
import { simulatedJibit } from './jibit.ts';
import { simulatedKavenegar } from './kavenegar.ts';
import { outbox, type SentMessage } from './outbox.ts';
import { startSimulator } from './simulator-server.ts';
import { simulatedSmsIr } from './sms-ir.ts';
import { simulatedZohal } from './zohal.ts';

export type { SentMessage } from './outbox.ts';

export const PROVIDER_NAMES = ['jibit', 'zohal', 'kavenegar', 'sms-ir'] as const;

export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** Simulators of every provider, each at a port of its own on the loopback address. */
export interface Simulators {
  /** The provider secret that leads to them. Made afresh at each start. */
  readonly providerSecret: Readonly<Record<string, unknown>>;
  /** What was "sent" to a phone (E.164), newest first. */
  messages(phone: string): readonly SentMessage[];
  /** Tells of each message as it is "sent"; returns the way to stop. */
  onMessage(listener: (message: SentMessage) => void): () => void;
  readonly faults: {
    /** Makes a provider, or one operation of it, fail in one way, or (undefined) work again. */
    set(provider: ProviderName, fault: Fault | undefined, operation?: string): Promise<void>;
    list(): readonly { readonly provider: ProviderName; readonly fault: Fault | undefined }[];
  };
  /** Serves `GET` and `POST /_local/faults`. */
  handleFaults(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Provider -> operation -> how many requests came. */
  calls(): Readonly<Record<ProviderName, Readonly<Record<string, number>>>>;
  /** Ends the life of every access token given out so far. */
  expireTokens(): void;
  close(): Promise<void>;
}

export const startSimulators = async (clock: Clock = systemClock): Promise<Simulators> => {
  const box = outbox(clock);
  const jibit = simulatedJibit(clock);
  const providers = {
    jibit,
    zohal: simulatedZohal(),
    kavenegar: simulatedKavenegar(box),
    'sms-ir': simulatedSmsIr(box),
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
    messages: box.messagesTo,
    onMessage: box.onMessage,
    faults,
    handleFaults: faultPanel(faults),
    calls: () => each(({ server }) => server.calls()),
    expireTokens: jibit.expireTokens,
    async close() {
      await Promise.all(started.map(({ server }) => server.close()));
    },
  };
};
