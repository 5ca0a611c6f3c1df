import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openServiceLog } from '#local/service-log.ts';

let folder: string;
let failures: string[];
const onFailure = (code: string): void => {
  failures.push(code);
};
const path = () => join(folder, 'service.log');

beforeEach(async () => {
  failures = [];
  folder = await mkdtemp(join(tmpdir(), 'service-log-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('openServiceLog', () => {
  it('keeps the lines of earlier starts', async () => {
    for (const line of ['one', 'two']) {
      openServiceLog(path(), { onFailure })(line);
    }
    expect(await readFile(path(), 'utf8')).toBe('one\ntwo\n');
  });

  it('keeps at most two files of the maximum size', async () => {
    const write = openServiceLog(path(), { maxBytes: 100, onFailure });
    for (let line = 0; line < 1000; line += 1) write(`line ${line}`);
    expect((await readdir(folder)).sort()).toEqual(['service.log', 'service.log.1']);
    const [older, newer] = await Promise.all([readFile(`${path()}.1`, 'utf8'), readFile(path(), 'utf8')]);
    expect(older.length).toBeLessThan(120);
    expect(`${older}${newer}`.trimEnd().split('\n').at(-1)).toBe('line 999');
    expect(failures).toEqual([]);
  });

  it('drops the lines that cannot be written, and reports that once until a line is written again', async () => {
    const write = openServiceLog(path(), { maxBytes: 1, onFailure });
    write('kept');
    await rm(folder, { recursive: true });
    for (const line of ['lost', 'lost too']) write(line);
    expect(failures).toEqual(['ENOENT']);
    await mkdir(folder);
    write('kept too');
    expect(await readFile(path(), 'utf8')).toBe('kept too\n');
    await rm(folder, { recursive: true });
    write('lost again');
    expect(failures).toEqual(['ENOENT', 'ENOENT']);
    await mkdir(folder);
  });
});
