import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { lockFolder } from '#local/folder-lock.ts';
import { newDataFolder, removeDataFolder } from '#test/service/running-service.ts';

let folder: string;

beforeEach(async () => {
  folder = await newDataFolder();
});
afterEach(() => removeDataFolder(folder));

/** Locks the folder in another process, which then lives until it is killed. */
const lockElsewhere = async () => {
  const module = fileURLToPath(new URL('../../local/folder-lock.ts', import.meta.url));
  const program = `const { lockFolder } = await import(process.argv[1]); await lockFolder(process.argv[2]); console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, module, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
};

describe('lockFolder', () => {
  it('rejects while the folder is locked', async () => {
    const release = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(`Another service is using ${folder}`);
    await release();
  });

  it('does not lock another folder', async () => {
    const other = await newDataFolder();
    const releases = [await lockFolder(folder), await lockFolder(other)];
    expect(releases).toHaveLength(2);
    for (const release of releases) await release();
    await removeDataFolder(other);
  });

  it('locks the folder again after it was unlocked', async () => {
    await (await lockFolder(folder))();
    await (await lockFolder(folder))();
  });

  it('locks against another process, until that process ends or is killed', async () => {
    const child = await lockElsewhere();
    await expect(lockFolder(folder)).rejects.toThrow('Another service');
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await (await lockFolder(folder))();
  });
});
