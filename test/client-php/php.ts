import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The PSR-18 client that the tests of the PHP client use, as Debian installs it. */
export const GUZZLE = '/usr/share/php/GuzzleHttp/autoload.php';

const isOnPath = (command: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)));

/** Returns what this machine lacks of the commands, and of Guzzle. */
export const missingForPhp = (...commands: readonly string[]): readonly string[] => [
  ...commands.filter((command) => !isOnPath(command)),
  ...(existsSync(GUZZLE) ? [] : ['php-guzzlehttp-guzzle']),
];
