import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../../../package.json' with { type: 'json' };
import { PROGRAM, startCommand } from './cli-process.ts';

const run = (...args: string[]) => startCommand(args).ended;

describe('the program', () => {
  it('is the package binary, and prints the version of the package', async () => {
    const binary = fileURLToPath(new URL(`../../../${packageJson.bin['buyer-linking']}`, import.meta.url));
    expect(binary).toBe(PROGRAM);
    accessSync(binary, constants.X_OK);
    expect(await run('--version')).toEqual({ exitCode: 0, out: `${packageJson.version}\n`, error: '' });
  });

  it('runs on the Node that npm ci installs where the own one cannot run TypeScript', () => {
    const args = ['--no-experimental-strip-types', PROGRAM];
    const version = spawnSync(process.execPath, [...args, '--version'], { encoding: 'utf8' });
    expect(version).toMatchObject({ status: 0, stdout: `${packageJson.version}\n`, stderr: '' });
    expect(spawnSync(process.execPath, [...args, 'nonsense']).status).toBe(2);
  });

  it('writes no stack trace if the reader of its output closes the pipe', async () => {
    const { child, ended } = startCommand(['--help']);
    child.stdout.destroy();
    expect(await ended).toEqual({ exitCode: 0, out: '', error: '' });
  });

  it('shows the help of a command of any depth, and suggests a command for a misspelled one', async () => {
    const [issue, keys, unknown, misspelled] = await Promise.all([
      run('help', 'keys', 'issue'),
      run('help', 'keys'),
      run('help', 'keys', 'nothing'),
      run('keys', 'isue'),
    ]);
    expect(issue).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('Usage: buyer-linking keys issue'),
    });
    expect(keys.out).toContain('revoke a key for good');
    expect(unknown).toMatchObject({
      exitCode: 2,
      error: 'error: There is no command keys nothing. Try --help.\n',
    });
    expect(misspelled).toMatchObject({ exitCode: 2, error: expect.stringContaining('Did you mean issue?') });
  });
});

describe('completion', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'completion-'));
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { out, exitCode } = await run('completion', shell);
      expect(exitCode).toBe(0);
      await writeFile(join(folder, shell), out);
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  const hasShell = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;
  const itIn = (shell: string, title: string, test: () => void): void =>
    hasShell(shell) ? it(title, test) : it.skip(`${title} (skipped: no ${shell})`, test);

  const completed = (shell: string, script: string, line: string): string[] =>
    // Fish has no $0.
    spawnSync(
      shell,
      ['-c', script, ...(shell === 'fish' ? [] : [shell]), join(folder, shell), ...line.split(' ')],
      {
        encoding: 'utf8',
        cwd: folder,
      },
    )
      .stdout.split(/\s+/)
      .filter((word) => word !== '')
      .sort();

  // Each script sources the completion script, completes the last word and prints the candidates.
  const IN_BASH = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _buyer_linking; echo "\${COMPREPLY[@]}"`;
  const IN_FISH =
    'source $argv[1]; complete -C (string join " " -- $argv[2..]) | string replace -r "\\t.*" ""';

  it.each([
    ['buyer-linking ke', ['keys']],
    ['buyer-linking keys re', ['revoke']],
    ['buyer-linking --stage prod keys i', ['issue']],
    ['buyer-linking keys issue sel_1 --sc', ['--scopes']],
    ['buyer-linking keys issue sel_1 --plan ', ['free', 'professional']],
    ['buyer-linking sellers list --st', ['--stage']],
    ['buyer-linking buyers import ', []],
    ['buyer-linking completion ', []],
  ])('completes %j in bash with %j', (line, words) => {
    expect(completed('bash', IN_BASH, line)).toEqual(words);
  });

  itIn('zsh', 'is accepted by zsh, whose bashcompinit runs the same function', () => {
    const script = 'autoload -U +X bashcompinit && bashcompinit; source "$1" && whence -w _buyer_linking';
    expect(completed('zsh', script, 'buyer-linking')).toEqual(['_buyer_linking:', 'function']);
  });

  itIn('fish', 'completes commands, options and values in fish', () => {
    expect(completed('fish', IN_FISH, 'buyer-linking ke')).toEqual(['keys']);
    expect(completed('fish', IN_FISH, 'buyer-linking keys re')).toEqual(['revoke']);
    expect(completed('fish', IN_FISH, 'buyer-linking keys issue sel_1 --plan ')).toEqual([
      'free',
      'professional',
    ]);
    expect(completed('fish', IN_FISH, 'buyer-linking keys issue --sc')).toEqual(['--scopes']);
  });

  it('knows three shells', async () => {
    expect(await run('completion', 'tcsh')).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining('bash, zsh, fish'),
    });
  });
});
