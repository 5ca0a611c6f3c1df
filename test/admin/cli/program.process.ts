import { accessSync, constants } from 'node:fs';
import { fileURLToPath } from 'node:url';
import packageJson from '../../../package.json' with { type: 'json' };
import { PROGRAM, startCommand } from './cli-process.ts';
import { runCommand } from './in-process.ts';

const run = (...args: string[]) => runCommand(args);

describe('the program', () => {
  it('is the package binary, and prints the version of the package', async () => {
    const binary = fileURLToPath(new URL(`../../../${packageJson.bin['buyer-linking']}`, import.meta.url));
    expect(binary).toBe(PROGRAM);
    accessSync(binary, constants.X_OK);
    expect(await startCommand(['--version']).ended).toEqual({
      exitCode: 0,
      out: `${packageJson.version}\n`,
      error: '',
    });
  });

  it('writes no stack trace if the reader of its output closes the pipe', async () => {
    const { child, ended } = startCommand(['--help']);
    child.stdout.destroy();
    expect(await ended).toEqual({ exitCode: 0, out: '', error: '' });
  });

  it('shows the help of a command of any depth, and suggests a command for a misspelled one', async () => {
    const [issue, ofIssue, keys, ofUnknown, unknown, misspelled] = await Promise.all([
      run('keys', 'issue', '--help'),
      run('help', 'keys', 'issue'),
      run('help', 'keys'),
      run('help', 'keys', 'nothing'),
      run('keys', 'nothing'),
      run('keys', 'isue'),
    ]);
    expect(issue).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('Usage: buyer-linking keys issue'),
    });
    expect(ofIssue).toEqual(issue);
    expect(keys).toMatchObject({ exitCode: 0, out: expect.stringContaining('revoke a key for good') });
    expect(ofUnknown).toEqual(unknown);
    expect(unknown).toMatchObject({
      exitCode: 2,
      error: "error: unknown command 'nothing'\nTry buyer-linking keys --help.\n",
    });
    expect(misspelled).toMatchObject({ exitCode: 2, error: expect.stringContaining('Did you mean issue?') });
  });
});
