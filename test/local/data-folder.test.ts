import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureSecrets, lockFolder, openDataFolder } from '#local/data-folder.ts';
import { newDataFolder, removeDataFolder } from '#test/service/running-service.ts';

let folder: string;

beforeEach(async () => {
  folder = await newDataFolder();
});
afterEach(() => removeDataFolder(folder));

/** Locks the folder in another process, which then lives until it is killed. */
const lockElsewhere = async () => {
  const module = fileURLToPath(new URL('../../local/data-folder.ts', import.meta.url));
  const program = `const { lockFolder } = await import(process.argv[1]); globalThis.unlock = lockFolder(process.argv[2]); console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, module, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
};

describe('ensureSecrets', () => {
  it('creates the secrets of a new folder, and keeps them', async () => {
    const files = await openDataFolder(folder);
    await ensureSecrets(files);
    const secret = await readFile(files.hashSecretFile, 'utf8');
    await writeFile(files.tableFile, '');
    await ensureSecrets(files);
    expect(await readFile(files.hashSecretFile, 'utf8')).toBe(secret);
  });

  it('refuses a table whose hash secret is missing, since nothing in it would be found again', async () => {
    const files = await openDataFolder(folder);
    await writeFile(files.tableFile, '');
    await expect(ensureSecrets(files)).rejects.toThrow(`${files.hashSecretFile} is missing`);
  });
});

describe('lockFolder', () => {
  it('throws one sentence for a file that cannot be locked', async () => {
    await writeFile(join(folder, 'lock'), 'a text of more than a hundred bytes'.repeat(4));
    expect(() => lockFolder(folder)).toThrow(
      `${folder} cannot be locked (file is not a database): remove its file "lock", or choose another folder with --data.`,
    );
  });

  it('throws while the folder is locked', async () => {
    const unlock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(`Another service is using ${folder}`);
    unlock();
  });

  it('does not lock another folder', async () => {
    const other = await newDataFolder();
    const unlocks = [lockFolder(folder), lockFolder(other)];
    expect(unlocks).toHaveLength(2);
    for (const unlock of unlocks) unlock();
    await removeDataFolder(other);
  });

  it('locks the folder again after it was unlocked', () => {
    lockFolder(folder)();
    lockFolder(folder)();
  });

  it('locks against another process, until that process ends or is killed', async () => {
    const child = await lockElsewhere();
    expect(() => lockFolder(folder)).toThrow('Another service');
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    lockFolder(folder)();
  });
});
