import { once } from 'node:events';
import { createServer } from 'node:http';
import { respond } from '#local/gateway/proxy-event.ts';
import { localUsagePlans } from '#local/usage-plans/client.ts';
import { USAGE_PLANS_PATH, usagePlansEndpoint } from '#local/usage-plans/endpoint.ts';
import { openUsagePlans, type StoreOptions } from '#local/usage-plans/store.ts';
import { systemClock } from '#shared/clock.ts';

const TOKEN = 'token-of-a-test';

/** Starts the local usage plans behind a server of their own, with a client. Stop them in afterAll. */
export const startUsagePlans = async (options: Partial<StoreOptions> = {}) => {
  const store = await openUsagePlans({ clock: systemClock, ...options });
  const call = usagePlansEndpoint(store, TOKEN);
  const server = createServer(async (request, response) => respond(response, await call(request)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const access = { url: `http://127.0.0.1:${port}${USAGE_PLANS_PATH}`, token: TOKEN };
  return {
    store,
    access,
    client: localUsagePlans(access),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await store.close();
    },
  };
};
