import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../api.ts';
import type { Campaign } from './campaign.ts';

/** A page needs three calls, each tried three times; the authorizer's read comes first. */
const MAX_CALLS_PER_REQUEST = 12;

/** The bound of a response while the database does not respond, in milliseconds. */
const BOUND_MS = 6_000;

/** The database is unreachable for up to 30 s: each response is bounded in time and says 503; then the service recovers by itself. */
export const outage: Campaign = {
  name: 'outage',
  async run({ deployment, report, scale }) {
    const seller = await deployment.newSeller('Outage');
    const list = ({ key }: { readonly key: string } = seller) =>
      call(deployment.baseUrl(), { method: 'GET', path: '/v1/users', key }, report);
    await list();
    // Keys whose authorizer decision is not cached yet.
    const unseen = await Promise.all(
      ['refused', 'hanging'].map((name) => deployment.newSeller(`Outage ${name}`)),
    );
    for (const state of ['refuse', 'hang'] as const) {
      deployment.proxy.availability(state);
      const connectionsBefore = deployment.proxy.refusedConnections();
      let requests = 0;
      const until = Date.now() + scale * 15_000;
      while (Date.now() < until) {
        const replies = await Promise.all([...Array.from({ length: 5 }, () => list()), ...unseen.map(list)]);
        requests += replies.length;
        for (const reply of replies) {
          const check = `database outage (${state}): 503 service_unavailable within ${BOUND_MS / 1000} s`;
          const holds = reply?.json?.code === 'service_unavailable' && reply.ms < BOUND_MS;
          report.expect(
            check,
            holds,
            () => `${reply?.status} ${reply?.json?.code} after ${Math.round(reply?.ms ?? 0)} ms`,
          );
        }
        await pause(100);
      }
      const calls = deployment.proxy.refusedConnections() - connectionsBefore;
      const isBounded = calls <= requests * MAX_CALLS_PER_REQUEST;
      report.expect(
        'no stampede on an unreachable database',
        isBounded,
        () => `${calls} calls, ${requests} requests`,
      );
      deployment.proxy.availability('up');
      await pause(500);
      const reply = await list();
      report.expect(
        'recovery after an outage without a restart',
        reply?.status === 200,
        () => `${reply?.status}`,
      );
    }
  },
};
