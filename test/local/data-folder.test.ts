import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mock } from 'node:test';
import { type DataFolder, openFolder, openServiceLog, readIfThere } from '#local/data-folder.ts';
import { redirectLog } from '#shared/log.ts';
import { newDataFolder, removeDataFolder } from '#test/service/running-service.ts';

let folder: string;

beforeEach(async () => {
  folder = await newDataFolder();
});
afterEach(() => removeDataFolder(folder));

/** Opens the folder, and closes it again when `use` has ended. */
const inFolder = async <T>(use: (files: DataFolder) => T | Promise<T>, path = folder): Promise<T> => {
  await using parts = new AsyncDisposableStack();
  parts.defer(redirectLog(() => {}));
  return await use(await openFolder(path, parts));
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

  it('creates a folder and files that only their owner may read, and leaves no draft', async () => {
    const own = join(folder, 'own');
    await inFolder(() => {}, own);
    const names = await readdir(own);
    const modes = await Promise.all(names.map((name) => modeOf(join(own, name))));
    expect([await modeOf(own), ...new Set(modes)]).toEqual([0o700, 0o600]);
    expect(names.sort()).toEqual(['hash-secret.json', 'signing-key.pem']);
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
    expect(await modeOf(join(folder, 'hash-secret.json'))).toBe(0o600);
  });

  it.each(['', 'no number', '0', String(process.pid)])(
    'takes a folder whose pid file has the text %j, which names no other process',
    async (text) => {
      await writeFile(join(folder, 'service.pid'), text);
      expect(await inFolder(({ servicePidFile }) => readFile(servicePidFile, 'utf8'))).toBe(
        String(process.pid),
      );
    },
  );

  it('throws while another process uses the folder, until that process is killed', async () => {
    const module = new URL('../../local/data-folder.ts', import.meta.url).href;
    const program = `const { openFolder } = await import('${module}');
      const ignore = () => {};
      globalThis.parts = new AsyncDisposableStack();
      await openFolder('${folder}', globalThis.parts);
      process.stdout.write('locked');
      setInterval(ignore, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    await expect(inFolder(() => {})).rejects.toThrow(
      `Another service (process ${child.pid}) is using ${folder}: stop it first, or choose another folder with --data. If that process is no service, remove ${join(folder, 'service.pid')}.`,
    );
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await inFolder(() => {});
  });
});

describe('readIfThere', () => {
  it('returns undefined for a missing file and throws for an unreadable one', async () => {
    expect(await readIfThere(join(folder, 'none'))).toBeUndefined();
    await expect(readIfThere(folder)).rejects.toThrow('EISDIR');
  });
});

describe('openServiceLog', () => {
  let failures: string[];
  beforeEach(() => {
    failures = [];
    mock.method(console, 'error', (text: string) =>
      failures.push(text.replace(join(folder, 'service.log'), '')),
    );
  });
  afterEach(() => mock.restoreAll());

  it('keeps the lines of earlier starts', async () => {
    for (const line of ['one', 'two']) {
      openServiceLog(join(folder, 'service.log'))(line);
    }
    expect(await readFile(join(folder, 'service.log'), 'utf8')).toBe('one\ntwo\n');
  });

  it('keeps at most two files of the maximum size', async () => {
    const write = openServiceLog(join(folder, 'service.log'), 100);
    for (let line = 0; line < 1000; line += 1) write(`line ${line}`);
    expect((await readdir(folder)).sort()).toEqual(['service.log', 'service.log.1']);
    const [older, newer] = await Promise.all([
      readFile(`${join(folder, 'service.log')}.1`, 'utf8'),
      readFile(join(folder, 'service.log'), 'utf8'),
    ]);
    expect(older.length).toBeLessThan(120);
    expect(`${older}${newer}`.trimEnd().split('\n').at(-1)).toBe('line 999');
    expect(failures).toEqual([]);
  });

  it('drops the lines that cannot be written, and reports that once until a line is written again', async () => {
    const write = openServiceLog(join(folder, 'service.log'), 1);
    write('kept');
    await rm(folder, { recursive: true });
    for (const line of ['lost', 'lost too']) write(line);
    const sentence = ' cannot be written (ENOENT): log lines are lost until it can.';
    expect(failures).toEqual([sentence]);
    await mkdir(folder);
    write('kept too');
    expect(await readFile(join(folder, 'service.log'), 'utf8')).toBe('kept too\n');
    await rm(folder, { recursive: true });
    write('lost again');
    expect(failures).toEqual([sentence, sentence]);
    await mkdir(folder);
  });
});
