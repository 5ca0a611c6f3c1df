/** Every scenario against the whole service, run in a process of its own as `npm start` runs it. */
import { localTarget } from '#test/service/local-target.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';
import { everyScenario } from './every-scenario.ts';
import type { Target } from './target.ts';

let service: RunningService;
let target: Target;

beforeAll(async () => {
  service = await startRunningService();
  target = localTarget(service.demo);
}, 30_000);

afterAll(async () => {
  await service.stop();
  await removeDataFolder(service.folder);
}, 30_000);

describe('the local service', () => {
  everyScenario({ target: () => target });
});
