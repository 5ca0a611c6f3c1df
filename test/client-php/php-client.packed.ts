/** The PHP client: its own tests, with those against the running service, and its style. Skipped by name where PHP is missing. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';
import { missingForPhp } from './php.ts';

const CLIENT = fileURLToPath(new URL('../../client-php/', import.meta.url));

/** Runs a command in the client's folder. Returns its output, also if it fails, so that a failed test shows it. */
const run = (command: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  promisify(execFile)(command, [...args], { cwd: CLIENT, env: { ...process.env, ...environment } }).then(
    ({ stdout }) => stdout,
    ({ message, stdout }: { readonly message: string; readonly stdout?: string }) => `${message}${stdout}`,
  );

const missing = missingForPhp('php', 'phpunit', 'phpcs');
const [itWithPhp, reason] = missing.length > 0 ? [it.skip, ` (skipped: no ${missing.join(', ')})`] : [it, ''];

describe('the PHP client', () => {
  itWithPhp(`follows PSR-12 and declares strict types${reason}`, async () => {
    expect(await run('phpcs', ['-q'])).toBe('');
  });

  describe('with a running service', () => {
    let service: RunningService;

    beforeAll(async () => {
      service = await startRunningService({ args: ['--memory'] });
    });

    afterAll(async () => {
      await service?.stop();
      await removeDataFolder(service?.folder);
    });

    itWithPhp(`passes its own tests, none of them skipped${reason}`, async () => {
      const output = await run('phpunit', ['--fail-on-skipped'], {
        BUYER_LINKING_URL: service.demo.base_url,
        BUYER_LINKING_API_KEY: service.demo.keys.free,
        BUYER_APP_KEY: service.demo.keys.app,
        EVENTS_KEY: service.demo.keys.events,
        ROTATING_KEY: service.demo.keys.rotate,
      });
      expect(output).toMatch(/^OK \(\d+ tests, \d+ assertions\)$/m);
    });
  });
});
