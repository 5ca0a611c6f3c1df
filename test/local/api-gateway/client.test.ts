import { failureOf } from '#admin/cli/errors.ts';
import { localUsagePlans } from '#local/api-gateway/client.ts';
import { startApiGateway } from '#local/api-gateway/server.ts';
import { systemClock } from '#shared/clock.ts';

describe('localUsagePlans', () => {
  it('calls the API Gateway of the run, and fails with not_reachable once that has ended', async () => {
    const apiGateway = await startApiGateway({ clock: systemClock });
    const { usagePlans, close } = localUsagePlans(apiGateway.access);
    expect(await usagePlans.countKeys(10)).toBe(0);
    await apiGateway.close();
    const failure = await usagePlans.countKeys(10).catch(failureOf);
    expect(failure).toEqual({ code: 'not_reachable', message: 'The deployment does not respond.' });
    close();
  });
});
