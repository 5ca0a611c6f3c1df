/** Two processes on one data folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DataFolder, openFolder } from '#local/data-folder.ts';
import { redirectLog } from '#shared/log.ts';
import { newDataFolder, removeDataFolder } from '#test/service/running-service.ts';

let folder: string;

beforeEach(async () => {
  folder = await newDataFolder();
});
afterEach(() => removeDataFolder(folder));

/** Opens the folder, and closes it again when `use` has ended. */
const inFolder = async <T>(use: (files: DataFolder) => T | Promise<T>): Promise<T> => {
  await using parts = new AsyncDisposableStack();
  parts.defer(redirectLog(() => {}));
  return await use(await openFolder(folder, parts));
};

/** Runs a program in another process that has `openFolder` and `parts`. */
const openElsewhere = (program: string) => {
  const module = new URL('../../local/data-folder.ts', import.meta.url).href;
  const imports = `const { openFolder } = await import('${module}'); const parts = new AsyncDisposableStack();`;
  return spawn(process.execPath, ['--input-type=module', '--eval', `${imports}${program}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
};

describe('openFolder', () => {
  it('waits for the end of a process that was killed while it used the folder', async () => {
    const child = openElsewhere(
      `await openFolder('${folder}', parts); process.stdout.write('open'); setInterval(() => {}, 1000);`,
    );
    await once(child.stdout, 'data');
    const opened = inFolder(({ servicePidFile }) => readFile(servicePidFile, 'utf8'));
    child.kill('SIGKILL');
    expect(await opened).toBe(String(process.pid));
  });

  it('succeeds for one of two starts at the same time, also where a killed service left its file', async () => {
    const folders = Array.from({ length: 20 }, (_, index) => join(folder, String(index)));
    for (const each of folders) {
      await mkdir(each);
      await writeFile(join(each, 'service.pid'), '4194305');
    }
    // Both open all folders at the same moment, and run until both have.
    const program = `await new Promise((resolve) => setTimeout(resolve, ${Date.now() + 1000} - Date.now()));
      const open = (path, index) => openFolder(path, parts).then(() => index, ({ message }) => message);
      const opened = await Promise.all(${JSON.stringify(folders)}.map(open));
      process.stdout.write(JSON.stringify(opened));
      setInterval(() => {}, 1000);`;
    const children = [openElsewhere(program), openElsewhere(program)];
    const outputs = await Promise.all(children.map(({ stdout }) => once(stdout, 'data')));
    for (const child of children) child.kill('SIGKILL');
    const results = outputs.flatMap(([output]) => JSON.parse(output) as (number | string)[]);
    const [opened, refused] = [
      results.filter(Number.isInteger),
      results.filter((result) => !Number.isInteger(result)),
    ];
    for (const message of refused)
      expect(message).toMatch(/^Another service (?:is starting in|\(process \d+\) is using) /);
    expect(opened.sort((x, y) => Number(x) - Number(y))).toEqual([...folders.keys()]);
  });
});
