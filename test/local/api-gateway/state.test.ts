import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { startApiGateway } from './use-api-gateway.ts';

const VALUE = 'v'.repeat(40);
const clock = () => Date.parse('2026-11-21T10:00:00Z');

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'usage-plans-'));
  file = join(folder, 'usage-plans.json');
});
afterEach(() => rm(folder, { recursive: true }));

const stored = async () => JSON.parse(await readFile(file, 'utf8'));
const start = () => startApiGateway({ file, clock });

describe('the file', () => {
  it('holds each change before its response, and is read at the next start', async () => {
    const first = await start();
    const { id } = await first.usagePlans.createKey({ name: 'key', value: VALUE, enabled: true });
    await first.usagePlans.attach(id, 'free');
    const changed_at = clock() / 1000;
    expect((await stored()).keys).toEqual([
      { id, name: 'key', value: VALUE, enabled: true, plan: 'free', changed_at },
    ]);
    first.simulator.recordUse(VALUE);
    await first.stop();

    const second = await start();
    expect(second.simulator.throttleOf(VALUE)).toEqual(usagePlanThrottle('free'));
    expect(await second.usagePlans.usage(id, 'free', '2026-11-21', '2026-11-21')).toEqual([
      { day: '2026-11-21', requests: 1 },
    ]);
    await second.stop();
    expect(await readdir(folder)).toEqual(['usage-plans.json']);
  });

  it('holds every one of many concurrent changes', async () => {
    const { usagePlans, stop } = await start();
    const names = Array.from({ length: 20 }, (_, index) => `key${index}`);
    await Promise.all(
      names.map((name) => usagePlans.createKey({ name, value: `${VALUE}${name}`, enabled: true })),
    );
    expect((await stored()).keys.map(({ name }: { name: string }) => name).sort()).toEqual(names.sort());
    await stop();
  });

  it('is read as releases before 1.1 wrote it', async () => {
    const key = { id: 'Ab3', name: 'buyer-linking-local-key_1', value: VALUE, enabled: true, plan: 'free' };
    await writeFile(file, JSON.stringify({ keys: [key], usage: { Ab3: { '2026-11-20': 7 } } }));
    const { usagePlans, simulator, keys, stop } = await start();
    expect(await keys()).toEqual([{ id: 'Ab3', name: key.name, value: VALUE, enabled: true }]);
    expect(simulator.throttleOf(VALUE)).toEqual(usagePlanThrottle('free'));
    expect(await usagePlans.usage('Ab3', 'free', '2026-11-20', '2026-11-21')).toEqual([
      { day: '2026-11-20', requests: 7 },
    ]);
    await stop();
  });

  it('is named and kept when it is damaged', async () => {
    await writeFile(file, '{"keys": [');
    await expect(start()).rejects.toThrow(file);
    expect(await readFile(file, 'utf8')).toBe('{"keys": [');
  });
});
