import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GuardMessage, GuardOptions } from '#local/database-guard.ts';
import { newDataFolder, removeDataFolder } from '#test/service/running-service.ts';

const GUARD = fileURLToPath(new URL('../../local/database-guard.ts', import.meta.url));

let folder: string;

beforeEach(async () => {
  folder = await newDataFolder();
});
afterEach(() => removeDataFolder(folder));

/** Runs the guard with a database that writes this text and ends. Returns what the guard reports. */
const reportsOf = async (output: string): Promise<GuardMessage[]> => {
  const binary = join(folder, 'database');
  await writeFile(binary, `#!/bin/sh\nprintf '${output}' >&2\nexit 3\n`);
  await chmod(binary, 0o755);
  const guard = fork(GUARD, { execArgv: [] });
  const reports: GuardMessage[] = [];
  guard.on('message', (report: GuardMessage) => reports.push(report));
  guard.send({ binary, accessKeyId: 'KeyOfThisRun' } satisfies GuardOptions);
  await once(guard, 'close');
  return reports;
};

describe('the start line of the database', () => {
  it('is not read before its end has come', async () => {
    expect(await reportsOf('Dynoxide listening on http://127.0.')).toEqual([
      { ended: 'exit code 3 (its last output: Dynoxide listening on http://127.0.)' },
    ]);
  });

  it('is no part of the last output when the database ends', async () => {
    expect((await reportsOf('Dynoxide listening on http://127.0.0.1:1\\n')).at(-1)).toEqual({
      ended: 'exit code 3',
    });
    expect((await reportsOf('Dynoxide listening on http://127.0.0.1:1\\nfull\\n')).at(-1)).toEqual({
      ended: 'exit code 3 (its last output: full)',
    });
  });
});
