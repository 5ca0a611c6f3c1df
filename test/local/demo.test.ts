import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  newDataFolder,
  type RunningService,
  removeDataFolder,
  startRunningService,
} from '#test/service/running-service.ts';

const DEMO = fileURLToPath(new URL('../../local/demo.ts', import.meta.url));

const runDemo = (folder: string) => promisify(execFile)(process.execPath, [DEMO, '--data', folder]);

let folder: string;
let service: RunningService;

beforeAll(async () => {
  folder = await newDataFolder();
  service = await startRunningService({ folder });
});

afterAll(async () => {
  await service.stop();
  await removeDataFolder(folder);
});

describe('npm run demo', () => {
  it('completes the flow at each run', async () => {
    for (const _run of [1, 2]) {
      const { stdout } = await runDemo(folder);
      expect(stdout.trimEnd()).toMatch(/Every response was as expected\.$/);
    }
  });

  it('shows every status of the flow', async () => {
    const { stdout } = await runDemo(folder);
    for (const status of [200, 201, 202, 204, 401, 403, 404, 409, 422, 429, 503]) {
      expect(stdout).toContain(`->  ${status}  `);
    }
  });

  it('exits 1 with one sentence when the service is not running, also after it was killed', async () => {
    await service.stop('SIGKILL');
    const other = await newDataFolder();
    for (const where of [folder, other]) {
      await expect(runDemo(where)).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining('The service is not running: start it with "npm start"'),
      });
    }
    await removeDataFolder(other);
  });

  it('exits 1 with the usage and no stack for a wrong option', async () => {
    const run = promisify(execFile)(process.execPath, [DEMO, '--bogus']);
    await expect(run).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^\nUsage: npm run demo[^\n]+\n$/),
    });
  });
});
