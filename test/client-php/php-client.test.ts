/** The PHP client: its own tests, with those against the running service, and its style. Skipped by name where PHP is missing. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PROBLEMS } from '#shared/problems.ts';
import { allRoutes } from '#shared/routes.ts';
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
  it('has a constant for each problem code of the service', () => {
    const constants = readFileSync(`${CLIENT}src/ProblemCode.php`, 'utf8').matchAll(
      /const (\w+) = '(\w+)';/g,
    );
    const codes = Object.keys(PROBLEMS);
    expect([...constants].map(([, name, code]) => [name, code])).toEqual(
      codes.map((code) => [code.toUpperCase(), code]),
    );
  });

  it('repeats every request but those of the rows that are not repeatable', () => {
    const [, list = ''] =
      /NOT_REPEATABLE = \[([^\]]*)\]/.exec(readFileSync(`${CLIENT}src/Transport.php`, 'utf8')) ?? [];
    const listed = [...list.matchAll(/'([^']+)'/g)].map(([, operation]) => operation);
    const rows = allRoutes.filter(({ repeatable }) => !repeatable);
    expect(listed).toEqual(rows.map(({ method, path }) => `${method} ${path}`));
  });

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
