import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openServiceLog } from '#local/service-log.ts';

let folder: string;
const path = () => join(folder, 'service.log');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'service-log-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('openServiceLog', () => {
  it('keeps the lines of earlier starts', async () => {
    for (const line of ['one', 'two']) {
      openServiceLog(path())(line);
    }
    expect(await readFile(path(), 'utf8')).toBe('one\ntwo\n');
  });

  it('keeps at most two files of the maximum size', async () => {
    const write = openServiceLog(path(), 100);
    for (let line = 0; line < 1000; line += 1) write(`line ${line}`);
    expect((await readdir(folder)).sort()).toEqual(['service.log', 'service.log.1']);
    const [older, newer] = await Promise.all([readFile(`${path()}.1`, 'utf8'), readFile(path(), 'utf8')]);
    expect(older.length).toBeLessThan(120);
    expect(`${older}${newer}`.trimEnd().split('\n').at(-1)).toBe('line 999');
  });
});
