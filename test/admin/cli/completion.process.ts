import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { PROGRAM } from './cli-process.ts';
import { runCommand } from './in-process.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let folder: string;
let shell: TestShell;
let sellerId: string;
let secondId: string;
let keyId: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'completion-'));
  for (const name of ['bash', 'zsh', 'fish']) {
    const { out, exitCode } = await runCommand(['completion', name]);
    expect(exitCode).toBe(0);
    await writeFile(join(folder, name), out);
  }
  const script = `#!/bin/sh\necho "$*" >> "${join(folder, 'runs')}"\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;
  await writeFile(join(folder, 'buyer-linking'), script, { mode: 0o755 });
  shell = await startTestShell();
  ({ seller_id: sellerId } = await shell.json('sellers', 'create', 'Kaveh Books'));
  ({ seller_id: secondId } = await shell.json('sellers', 'create', 'کفش پروین'));
  const issue = ['keys', 'issue', sellerId, '--plan', 'free', '--scopes', 'users:read', '--name'];
  ({ key_id: keyId } = await shell.json(...issue, 'checkout'));
  const { key_id } = await shell.json(...issue, 'check of the past');
  await shell.json('keys', 'revoke', key_id, '--yes');
});
afterAll(async () => {
  await shell.stop();
  await rm(folder, { recursive: true });
});

const hasShell = (name: string): boolean => spawnSync(name, ['-c', 'true']).status === 0;
const itIn = (name: string, title: string, test: () => void): void =>
  hasShell(name) ? it(title, test) : it.skip(`${title} (skipped: no ${name})`, test);

/** Runs a script in a shell whose arguments are the completion script and the words of a line. Returns the candidates, one per line, sorted. */
const completed = (name: string, script: string, words: readonly string[]): string[] => {
  // Fish has no $0.
  const args = ['-c', script, ...(name === 'fish' ? [] : [name]), join(folder, name), ...words];
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}`, LC_ALL: 'C.UTF-8' };
  const { stdout, stderr } = spawnSync(name, args, { encoding: 'utf8', cwd: folder, env });
  expect(stderr).toBe('');
  return stdout
    .split('\n')
    .filter((line) => line.trim() !== '')
    .sort();
};

// Each script sources the completion script, completes the last word and prints the candidates.
const IN_BASH = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _buyer_linking; printf '%s\\n' "\${COMPREPLY[@]}"`;
const IN_ZSH = `autoload -U +X bashcompinit && bashcompinit; compdef() { }; source <(tail -n +3 "$1"); shift
words=("$@"); CURRENT=$#; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compgen -F _buyer_linking -- "\${@[-1]}"`;
const IN_FISH = 'source $argv[1]; complete -C (string join " " -- $argv[2..]) | string replace -r "\\t.*" ""';

const inBash = (...words: string[]): string[] => completed('bash', IN_BASH, ['buyer-linking', ...words]);

const local = (): string[] => ['--data', shell.folder];

describe('completion of commands and options', () => {
  it.each([
    ['ke', ['keys']],
    ['keys re', ['revoke']],
    ['--stage prod keys i', ['issue']],
    ['--stage keys sellers sh', ['show']],
    ['keys issue sel_1 --sc', ['--scopes']],
    ['keys issue sel_1 --plan ', ['free', 'professional']],
    ['sellers list --st', ['--stage']],
    ['buyers import ', []],
    ['completion ', []],
  ])('completes %j in bash with %j', (line, words) => {
    expect(inBash(...line.split(' '))).toEqual(words);
  });

  itIn('fish', 'completes commands, options and values in fish', () => {
    const inFish = (line: string) => completed('fish', IN_FISH, ['buyer-linking', ...line.split(' ')]);
    expect(inFish('ke')).toEqual(['keys']);
    expect(inFish('keys re')).toEqual(['revoke']);
    expect(inFish('keys issue sel_1 --plan ')).toEqual(['free', 'professional']);
    expect(inFish('keys issue --sc')).toEqual(['--scopes']);
  });

  it('knows three shells', async () => {
    expect(await runCommand(['completion', 'tcsh'])).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining('bash, zsh, fish'),
    });
  });
});

describe('completion of sellers and keys', () => {
  it('completes a seller in bash by id or name, for every argument and option that takes one', () => {
    expect(inBash(...local(), 'sellers', 'show', 'Kav')).toEqual(['Kaveh\\ Books']);
    expect(inBash(...local(), 'sellers', 'rename', sellerId.slice(0, 10))).toEqual([sellerId]);
    expect(inBash('users', 'show', 'x', ...local(), '--seller', 'کف')).toEqual(['کفش\\ پروین']);
    expect(inBash('logs', '--status', '4', `--data=${shell.folder}`, '--seller', 'Kav')).toEqual([
      'Kaveh\\ Books',
    ]);
    expect(inBash(...local(), 'sellers', 'show', 'Kaveh\\ B')).toEqual(['Kaveh\\ Books']);
    expect(inBash(...local(), 'sellers', 'show', '"Kaveh B')).toEqual(['Kaveh Books']);
    expect(inBash(...local(), 'audit', 'Kav')).toEqual(['Kaveh\\ Books']);
  });

  it('shows the names of several sellers beside their ids in bash', () => {
    expect(inBash(...local(), 'sellers', 'show', '')).toEqual(
      [`${sellerId}  (Kaveh Books)`, `${secondId}  (کفش پروین)`].sort(),
    );
  });

  it('completes a key in bash by its id or its name, and no revoked one', () => {
    expect(inBash(...local(), 'keys', 'show', '')).toEqual([keyId]);
    expect(inBash(...local(), 'usage', 'check')).toEqual([keyId]);
    expect(inBash(...local(), 'audit', keyId.slice(0, 9))).toEqual([keyId]);
  });

  it('completes neither a second argument nor a text', () => {
    expect(inBash(...local(), 'sellers', 'rename', sellerId, 'Kav')).toEqual([]);
    expect(inBash(...local(), 'keys', 'issue', sellerId, '--name', 'Kav')).toEqual([]);
  });

  it('is quiet where there is no deployment, and evaluates nothing that was typed', () => {
    expect(inBash('--data', '/nowhere', 'sellers', 'show', '')).toEqual([]);
    const typed = `$(touch ${join(folder, 'evaluated')})`;
    expect(inBash(...local(), 'sellers', 'show', typed)).toEqual([]);
    expect(inBash('--data', typed, 'sellers', 'show', '`touch evaluated`')).toEqual([]);
    expect(spawnSync('ls', [folder], { encoding: 'utf8' }).stdout).not.toContain('evaluated');
  });

  it('calls a stage only if the line names it, and reads a list once for two Tabs', () => {
    const twice = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); : > runs; _buyer_linking; _buyer_linking; cat runs`;
    const runsOf = (...words: string[]) => completed('bash', twice, ['buyer-linking', ...words]);
    expect(runsOf(...local(), 'sellers', 'show', '')).toEqual([`sellers list --data ${shell.folder}`]);
    expect(runsOf('--data=/nowhere', 'keys', 'show', '')).toEqual(['keys list --data=/nowhere']);
    expect(runsOf('--stage', 'none', '--region', 'x', 'keys', 'show', '')).toEqual([
      'keys list --stage none --region x',
    ]);
    expect(runsOf('sellers', 'sh')).toEqual([]);
  });

  itIn('zsh', 'completes sellers and keys in zsh, whose bashcompinit runs the function of bash', () => {
    const inZsh = (...words: string[]) => completed('zsh', IN_ZSH, ['buyer-linking', ...words]);
    expect(inZsh('keys', 're')).toContain('revoke');
    expect(inZsh(...local(), 'sellers', 'show', 'Kav')).toEqual(['Kaveh\\ Books']);
    expect(inZsh(...local(), 'sellers', 'show', 'sel_')).toEqual([sellerId, secondId].sort());
    expect(inZsh(...local(), 'keys', 'show', '')).toEqual([keyId]);
  });

  itIn('fish', 'completes sellers and keys in fish', () => {
    const inFish = (...words: string[]) => completed('fish', IN_FISH, ['buyer-linking', ...words]);
    expect(inFish(...local(), 'sellers', 'show', 'Kav')).toEqual(['Kaveh Books']);
    expect(inFish(...local(), 'users', 'show', 'x', '--seller', 'sel_')).toEqual([sellerId, secondId].sort());
    expect(inFish(...local(), 'keys', 'show', 'key_')).toEqual([keyId]);
    expect(inFish('--data', '/nowhere', 'sellers', 'show', 'K')).toEqual([]);
  });
});
