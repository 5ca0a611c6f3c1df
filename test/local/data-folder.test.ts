import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DataFolder, openFolder } from '#local/data-folder.ts';
import { redirectLog } from '#shared/log.ts';
import { newDataFolder, removeDataFolder } from '#test/service/running-service.ts';

let folder: string;

beforeEach(async () => {
  folder = await newDataFolder();
});
afterEach(() => removeDataFolder(folder));

const OPTIONS = { inMemory: false, onProgress: () => {}, onTrouble: () => {} };

/** Opens the folder, and closes it again when `use` has ended. */
const inFolder = async <T>(use: (files: DataFolder) => T | Promise<T>, path = folder): Promise<T> => {
  await using parts = new AsyncDisposableStack();
  parts.defer(redirectLog(() => {}));
  return await use(await openFolder({ ...OPTIONS, folder: path }, parts));
};

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('openFolder', () => {
  it('creates the secrets of a new folder, and keeps them', async () => {
    const before = await inFolder(({ hashSecretFile }) => readFile(hashSecretFile, 'utf8'));
    await writeFile(join(folder, 'table.sqlite'), '');
    expect(await inFolder(({ hashSecretFile }) => readFile(hashSecretFile, 'utf8'))).toBe(before);
  });

  it('refuses a table whose hash secret is missing, since nothing in it would be found again', async () => {
    await writeFile(join(folder, 'table.sqlite'), '');
    await expect(inFolder(() => {})).rejects.toThrow(`${join(folder, 'hash-secret.json')} is missing`);
  });

  it('makes an existing folder of the service, and every file in it, private', async () => {
    const shared = join(folder, 'shared');
    await mkdir(shared, { mode: 0o755 });
    await inFolder(() => {}, shared);
    expect(await modeOf(shared)).toBe(0o700);
    await chmod(shared, 0o755);
    for (const name of await readdir(shared)) await chmod(join(shared, name), 0o644);
    await inFolder(() => {}, shared);
    const modes = await Promise.all((await readdir(shared)).map((name) => modeOf(join(shared, name))));
    expect([await modeOf(shared), ...new Set(modes)]).toEqual([0o700, 0o600]);
  });

  it('leaves the permissions of a folder with files of others, and makes its own files private', async () => {
    await writeFile(join(folder, 'other.txt'), '');
    await chmod(join(folder, 'other.txt'), 0o644);
    await chmod(folder, 0o755);
    await inFolder(() => {});
    await inFolder(() => {});
    expect(await modeOf(folder)).toBe(0o755);
    expect(await modeOf(join(folder, 'other.txt'))).toBe(0o644);
    for (const name of ['lock', 'hash-secret.json', 'service.log']) {
      expect(await modeOf(join(folder, name))).toBe(0o600);
    }
  });

  it('throws one sentence for a lock file that cannot be locked', async () => {
    await writeFile(join(folder, 'lock'), 'a text of more than a hundred bytes'.repeat(4));
    await expect(inFolder(() => {})).rejects.toThrow(
      `${folder} cannot be locked (file is not a database): remove its file "lock", or choose another folder with --data.`,
    );
  });

  it('throws while another process uses the folder, until that process is killed', async () => {
    const module = new URL('../../local/data-folder.ts', import.meta.url).href;
    const program = `const { openFolder } = await import('${module}');
      const ignore = () => {};
      globalThis.parts = new AsyncDisposableStack();
      await openFolder({ folder: '${folder}', inMemory: false, onProgress: ignore, onTrouble: ignore }, globalThis.parts);
      process.stdout.write('locked');
      setInterval(ignore, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    await expect(inFolder(() => {})).rejects.toThrow(`Another service is using ${folder}: stop it first`);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await inFolder(() => {});
  });
});
