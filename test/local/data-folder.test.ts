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
afterEach(() => {
  mock.restoreAll();
  return removeDataFolder(folder);
});

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
    // The next start finds no claim.
    expect(await readdir(folder)).toEqual(['table.sqlite']);
  });

  it('creates no parent folders, which would not end below /proc', async () => {
    const nested = join(folder, 'missing', 'own');
    await expect(inFolder(() => {}, nested)).rejects.toThrow(
      `Nothing can be kept in ${nested} (ENOENT): choose another folder with --data.`,
    );
  });

  it('creates a folder and files that only their owner may read, and leaves no draft', async () => {
    const own = join(folder, 'own');
    process.umask(0o022);
    await inFolder(() => {}, own);
    // Of the files that the database creates.
    expect(process.umask()).toBe(0o077);
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

  it('removes the demo.json of a service that was killed, since scripts wait for that of this start', async () => {
    await writeFile(join(folder, 'demo.json'), '{}');
    expect(await inFolder(({ demoFile }) => readIfThere(demoFile))).toBeUndefined();
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

  it('refuses a folder that another process uses, and leaves its claim', async () => {
    const pid = String(process.ppid);
    await writeFile(join(folder, 'service.pid'), pid);
    let nowMs = 0;
    mock.method(performance, 'now', () => {
      nowMs += 1500;
      return nowMs;
    });
    await expect(inFolder(() => {})).rejects.toThrow(`Another service (process ${pid}) is using`);
    expect(await readdir(folder)).toEqual(['service.pid']);
    expect(await readFile(join(folder, 'service.pid'), 'utf8')).toBe(pid);
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

  it('keeps the lines of earlier starts', async () => {
    for (const line of ['one', 'two']) {
      openServiceLog(join(folder, 'service.log'))(line);
    }
    expect(await readFile(join(folder, 'service.log'), 'utf8')).toBe('one\ntwo\n');
    expect(await modeOf(join(folder, 'service.log'))).toBe(0o600);
  });

  it('keeps at most two files of the maximum size, over many starts too', async () => {
    for (let start = 0; start < 100; start += 1) {
      const write = openServiceLog(join(folder, 'service.log'), 100);
      for (let line = 0; line < 10; line += 1) write(`line ${start * 10 + line}`);
    }
    expect((await readdir(folder)).sort()).toEqual(['service.log', 'service.log.1']);
    const [older, newer] = await Promise.all([
      readFile(`${join(folder, 'service.log')}.1`, 'utf8'),
      readFile(join(folder, 'service.log'), 'utf8'),
    ]);
    for (const { length } of [older, newer]) expect(length).toBeLessThan(120);
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
