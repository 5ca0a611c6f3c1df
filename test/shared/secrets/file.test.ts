import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileSecret } from '#shared/secrets/file.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'secret-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('fileSecret', () => {
  it('reads the file each time, so that an edit takes effect at once', async () => {
    const path = join(folder, 'secret.json');
    const secret = fileSecret(path);
    await writeFile(path, 'old');
    expect(await secret.read()).toBe('old');
    await writeFile(path, 'new');
    expect(await secret.read()).toBe('new');
  });

  it('throws if the file is missing', async () => {
    await expect(fileSecret(join(folder, 'missing.json')).read()).rejects.toThrow('ENOENT');
  });
});
