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

/** Creates a virtual environment in `folder` with packages of PyPI. Returns the folder of its programs. */
export const makePythonEnvironment = async (folder: string, packages: readonly string[]): Promise<string> => {
  const [program, ...args] = await findPython();
  await runCommand(program, [...args, '-m', 'venv', '--without-pip', folder]);
  const programs = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  const python = join(programs, 'python');
  // Python compiles what is imported, which is a part of it.
  const install = ['install', '--quiet', '--disable-pip-version-check', '--no-compile', ...packages];
  try {
    // An installation of pip takes 4 CPU seconds: where the system has one that can do so, that is used.
    await runCommand(program, [...args, '-m', 'pip', '--python', python, ...install]);
  } catch {
    await runCommand(python, ['-m', 'ensurepip']);
    await runCommand(python, ['-m', 'pip', ...install]);
  }
  return programs;
};
