import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../api.ts';
import type { CampaignSeller, Deployment } from '../deployment.ts';
import type { Report } from '../report.ts';
import type { Campaign } from './campaign.ts';

const CLIENTS = 20;
const PAUSE_MS = 150;

interface Observation {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: number | undefined;
}

/** Clients that use a key until they are stopped. */
const startClients = ({ baseUrl }: Deployment, key: string, report: Report) => {
  const observations: Observation[] = [];
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const reply = await call(baseUrl(), { method: 'GET', path: '/v1/users', key }, report);
      observations.push({ startedAt, endedAt: performance.now(), status: reply?.status });
      await pause(PAUSE_MS);
    }
  });
  return {
    observations,
    /** Waits for two more responses a client, however slow the machine is. */
    async everyoneAgain() {
      const enough = observations.length + 2 * CLIENTS;
      while (observations.length < enough) await pause(PAUSE_MS);
    },
    async stop() {
      isOver = true;
      await Promise.all(clients);
    },
  };
};

interface Change {
  readonly title: string;
  readonly command: (seller: CampaignSeller) => readonly string[];
}

const CHANGES: readonly Change[] = [
  { title: 'revoke', command: ({ keyId }) => ['keys', 'revoke', keyId, '--yes'] },
  { title: 'suspend the seller', command: ({ id }) => ['sellers', 'suspend', id, '--yes'] },
  {
    title: 'rotate without grace',
    command: ({ keyId }) => ['keys', 'rotate', keyId, '--grace', '0s', '--yes'],
  },
];

/** Changes that end a key or a secret while clients use it: every request after the change must see it, and none before it may. */
export const keys: Campaign = {
  name: 'keys under load',
  async run({ deployment, report, used }) {
    for (const { title, command } of CHANGES) {
      const seller = await deployment.newSeller(`Keys ${title}`);
      used.keys.add(seller.key);
      const clients = startClients(deployment, seller.key, report);
      await clients.everyoneAgain();
      const changeStart = performance.now();
      await deployment.admin(...command(seller));
      const changeEnd = performance.now();
      await clients.everyoneAgain();
      await clients.stop();
      for (const { startedAt, endedAt, status } of clients.observations) {
        if (status === 429) continue;
        if (endedAt < changeStart) {
          report.expect(`${title}: no request fails before it`, status === 200, () => `${status}`);
        }
        if (startedAt > changeEnd) {
          report.expect(`${title}: no request passes after it`, status === 401, () => `${status}`);
        }
      }
    }
  },
};
