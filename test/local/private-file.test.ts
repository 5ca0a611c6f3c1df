import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readIfThere, writePrivateFile } from '#local/private-file.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'private-file-'));
});
afterEach(() => rm(folder, { recursive: true }));

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('writePrivateFile', () => {
  it('writes a file that only its owner may read, and leaves no draft', async () => {
    await writePrivateFile(join(folder, 'secret'), 'text');
    expect(await modeOf(join(folder, 'secret'))).toBe(0o600);
    expect(await readdir(folder)).toEqual(['secret']);
  });
});

describe('readIfThere', () => {
  it('returns undefined for a missing file and throws for an unreadable one', async () => {
    expect(await readIfThere(join(folder, 'none'))).toBeUndefined();
    await expect(readIfThere(folder)).rejects.toThrow('EISDIR');
  });
});
