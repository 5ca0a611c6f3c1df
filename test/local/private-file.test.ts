import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePrivateFileOnce, readIfThere, writePrivateFile } from '#local/private-file.ts';

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

  it('removes the permissions of others from an existing file', async () => {
    await writeFile(join(folder, 'secret'), 'old', { mode: 0o644 });
    await writePrivateFile(join(folder, 'secret'), 'new');
    expect(await modeOf(join(folder, 'secret'))).toBe(0o600);
    expect(await readFile(join(folder, 'secret'), 'utf8')).toBe('new');
  });
});

describe('makePrivateFileOnce', () => {
  it('does not change an existing file', async () => {
    const path = join(folder, 'secret');
    await makePrivateFileOnce(path, () => 'first');
    await makePrivateFileOnce(path, () => 'second');
    expect(await readIfThere(path)).toBe('first');
  });
});

describe('readIfThere', () => {
  it('returns undefined for a missing file and throws for an unreadable one', async () => {
    expect(await readIfThere(join(folder, 'none'))).toBeUndefined();
    await expect(readIfThere(folder)).rejects.toThrow('EISDIR');
  });
});
