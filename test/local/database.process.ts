/** Databases that end, start again, are killed or cannot start, each a process. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { type DataFolder, filesIn } from '#local/data-folder.ts';
import { type Database, ensureTable, startDatabase } from '#local/database.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { openTable } from '#shared/table/client.ts';
import { newDataFolder, removeDataFolder, until } from '#test/service/running-service.ts';
import { databasePid, isRunning } from './database-process.ts';

let folder: string;
let files: Pick<DataFolder, 'tableFile' | 'databasePidFile'>;

beforeEach(async () => {
  setLocalCredentials();
  folder = await newDataFolder();
  files = filesIn(folder);
});
afterEach(() => removeDataFolder(folder));

const start = (): Promise<Database> => startDatabase(files);

describe('startDatabase', () => {
  it('keeps its data in the file from one start to the next', async () => {
    for (const itemsBefore of [0, 1]) {
      const database = await start();
      const table = openTable('kept', database.endpoint);
      await ensureTable(table);
      const { Table } = await table.client.send(new DescribeTableCommand({ TableName: 'kept' }));
      expect(Table?.ItemCount).toBe(itemsBefore);
      await table.client.send(new PutCommand({ TableName: 'kept', Item: { pk: 'a', sk: 'b' } }));
      table.client.destroy();
      await database.stop();
    }
  });

  it('leaves no process, no unwritten data and no pid file after stop', async () => {
    const database = await start();
    const table = openTable('written', database.endpoint);
    await ensureTable(table);
    table.client.destroy();
    const pid = await databasePid(folder);
    await database.stop();
    expect(isRunning(pid)).toBe(false);
    expect(await readdir(folder)).toEqual(['table.sqlite']);
    await expect(fetch(database.endpoint)).rejects.toThrow();
  });

  it('does not keep a process running that did not stop it, and ends with that process', async () => {
    const module = new URL('../../local/database.ts', import.meta.url).href;
    const program = `import { startDatabase } from '${module}'; await startDatabase(${JSON.stringify(files)});`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    const pid = await databasePid(folder);
    await until(() => !isRunning(pid));
  });

  it('ends the database that a killed service left behind with the same files', async () => {
    const left = await start();
    const pid = await databasePid(folder);
    const database = await start();
    expect(await left.died).toContain('signal SIGKILL');
    expect(await databasePid(folder)).not.toBe(pid);
    await database.stop();
  });

  it('starts at another port if the port is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const database = await startDatabase({}, port);
    expect(new URL(database.endpoint).port).not.toBe(String(port));
    await database.stop();
    server.close();
  });

  it.each([
    [
      'names a process that is no database, which it does not end',
      JSON.stringify({ pid: process.pid, endpoint: 'http://127.0.0.1:9' }),
    ],
    ['cannot be read', '{"pid":'],
  ])('starts beside a pid file that %s', async (_title, text) => {
    await writeFile(files.databasePidFile ?? '', text);
    await (await start()).stop();
  });

  it('rejects with the output of the database if it does not start', async () => {
    const missing = join(folder, 'no', 'such', 'folder', 'table.sqlite');
    await expect(startDatabase({ tableFile: missing })).rejects.toThrow(
      /^The embedded database did not start: exit code 1 \(its last output: .*unable to open database file/,
    );
  });
});

describe('died', () => {
  it.each(['SIGKILL', 'SIGABRT'] as const)('names the signal %s that ended the database', async (signal) => {
    const database = await start();
    process.kill(await databasePid(folder), signal);
    expect(await database.died).toBe(
      `The embedded database ended: signal ${signal}. Start again with npm start.`,
    );
    await database.stop();
  });
});
