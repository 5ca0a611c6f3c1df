import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { makePythonEnvironment } from '#test/deploy/python.ts';
import type { Campaign } from './campaign.ts';

const PACKAGE = 'schemathesis==4.32.5';

const TIME_LIMIT_MS = 300_000;

/**
 * Checks that do not apply. A path that exists returns 404 for a method it does not have, as for an unknown path (contract: no 405, no
 * Allow header). The schema cannot express every rule (a check digit, a real day), so data that fit it may be rejected.
 */
const NOT_APPLICABLE = ['unsupported_method', 'allow_header_conformance', 'positive_data_acceptance'];

/** Runs schemathesis against the published document, where Python is there. */
export const schemathesis: Campaign = {
  name: 'schemathesis',
  async run({ deployment, report, scale, seed }) {
    const check = 'schemathesis: the published document holds';
    const programs = await makePythonEnvironment(join(deployment.folder, 'python'), [PACKAGE]).catch(
      () => undefined,
    );
    if (programs === undefined) {
      report.tried(`${check} (skipped: Python or its package index is missing)`, 0);
      return;
    }
    const seller = await deployment.newSeller('Schemathesis');
    // Without these scopes a request to the paths of the buyer app is refused before its access token is read.
    const scopes = 'users:read,users:write,buyers:register,buyers:links';
    await deployment.admin('keys', 'scopes', seller.keyId, '--set', scopes);
    // Not synchronous: the fault proxy runs in this process.
    const child = spawn(
      join(programs, 'schemathesis'),
      [
        ...['run', `${deployment.baseUrl()}/v1/openapi.json`, '--url', deployment.baseUrl()],
        ...['--checks', 'all', '--exclude-checks', NOT_APPLICABLE.join(',')],
        ...['--seed', String(seed), '--max-examples', String(Math.ceil(scale * 50)), '--rate-limit', '900/m'],
        ...['--header', `X-Api-Key:${seller.key}`, '--no-color', '--workers', '1'],
        ...['--phases', 'examples,coverage,fuzzing'],
      ],
      { cwd: deployment.folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: TIME_LIMIT_MS },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
    }
    const [code] = await once(child, 'close');
    report.tried(check, Number(/(\d+) generated/.exec(output)?.[1] ?? 1));
    if (code !== 0) report.violated(check, output.slice(-4000));
  },
};
