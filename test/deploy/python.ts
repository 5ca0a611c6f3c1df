import { join } from 'node:path';
import { runCommand } from './command.ts';

/** The oldest Python that MiniStack supports. */
const LEAST_VERSION = [3, 10] as const;

/** The commands that may start Python. */
const CANDIDATES: readonly (readonly string[])[] = [['python3'], ['python'], ['py', '-3']];

const isSupported = (text: string): boolean => {
  const [major = 0, minor = 0] = text.trim().split('.').map(Number);
  return major === LEAST_VERSION[0] && minor >= LEAST_VERSION[1];
};

/** Returns the command that starts Python. Rejects where there is none, or an old one only. */
export const findPython = async (): Promise<readonly [string, ...string[]]> => {
  for (const [program = '', ...args] of CANDIDATES) {
    const code = 'import sys; print("%d.%d" % sys.version_info[:2])';
    const version = await runCommand(program, [...args, '-c', code]).catch(() => '');
    if (isSupported(version)) return [program, ...args];
  }
  throw new Error(
    `Python ${LEAST_VERSION.join('.')} or newer is required to run the emulator, and none was found.`,
  );
};

/** Returns the command of pip for an environment: that of the system, since an installation of pip takes 4 CPU seconds; where it has none that can do so, an own one. */
const pipFor = async (
  python: string,
  [program, ...args]: readonly [string, ...string[]],
): Promise<readonly [string, ...string[]]> => {
  const ofSystem = [...args, '-m', 'pip', '--python', python];
  try {
    await runCommand(program, [...ofSystem, '--version']);
    return [program, ...ofSystem];
  } catch {
    await runCommand(python, ['-m', 'ensurepip']);
    return [python, '-m', 'pip'];
  }
};

/** Creates a virtual environment in `folder` with packages of PyPI. Returns the folder of its programs. */
export const makePythonEnvironment = async (folder: string, packages: readonly string[]): Promise<string> => {
  const system = await findPython();
  const [program, ...args] = system;
  await runCommand(program, [...args, '-m', 'venv', '--without-pip', folder]);
  const programs = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  const [pip, ...pipArgs] = await pipFor(join(programs, 'python'), system);
  await runCommand(pip, [
    ...pipArgs,
    'install',
    '--quiet',
    '--disable-pip-version-check',
    // Python compiles what is imported, which is a part of it.
    '--no-compile',
    ...packages,
  ]);
  return programs;
};
