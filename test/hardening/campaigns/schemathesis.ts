import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePythonEnvironment } from '#test/deploy/python.ts';
import type { CampaignSeller } from '../deployment.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';
import { documentWithExamples, operationsWithout2xx } from './schemathesis-examples.ts';

const PACKAGE = 'schemathesis==4.32.5';

const CHECK = 'schemathesis: the published document holds';

const TIME_LIMIT_MS = 300_000;

/**
 * Checks that do not apply. A path that exists returns 404 for a method it does not have, as for an unknown path (contract: no 405, no
 * Allow header). The schema cannot express every rule (a check digit, a real day), so data that fit it may be rejected.
 */
const NOT_APPLICABLE = ['unsupported_method', 'allow_header_conformance', 'positive_data_acceptance'];

interface Run {
  readonly program: string;
  /** A URL or a file. */
  readonly document: string;
  readonly key: string;
  readonly options: readonly string[];
}

/** Runs schemathesis, and reports what it finds. */
const runSchemathesis = async (
  { deployment, report, seed }: CampaignOptions,
  { program, document, key, options }: Run,
): Promise<void> => {
  // Not synchronous: the fault proxy runs in this process.
  const child = spawn(
    program,
    [
      ...['run', document, '--url', deployment.baseUrl(), '--header', `X-Api-Key:${key}`],
      ...['--checks', 'all', '--exclude-checks', NOT_APPLICABLE.join(',')],
      ...['--seed', String(seed), '--rate-limit', '900/m', '--no-color', '--workers', '1', ...options],
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
  report.tried(CHECK, Number(/(\d+) generated/.exec(output)?.[1] ?? 1));
  if (code !== 0) report.violated(CHECK, output.slice(-4000));
};

/** The phase of examples alone, with examples that exist: each operation must reach a 2xx. */
const tryExamples = async (
  options: CampaignOptions,
  program: string,
  seller: CampaignSeller,
): Promise<void> => {
  const { document, token } = await documentWithExamples(options, seller);
  const { deployment, report } = options;
  const [file, har] = [join(deployment.folder, 'examples.json'), join(deployment.folder, 'examples.har')];
  await writeFile(file, JSON.stringify(document));
  await runSchemathesis(options, {
    program,
    document: file,
    key: seller.key,
    options: [
      ...['--phases', 'examples', '--header', `Authorization:Bearer ${token}`],
      ...['--report', 'har', '--report-har-path', har],
    ],
  });
  const without = operationsWithout2xx(document, await readFile(har, 'utf8'));
  report.expect(`${CHECK}: an example of each operation gets a 2xx`, without.length === 0, () =>
    without.join(', '),
  );
  await rm(har);
};

/** Runs schemathesis against the published document, where Python is there. */
export const schemathesis: Campaign = {
  name: 'schemathesis',
  async run(options) {
    const { deployment, report, scale } = options;
    const programs = await makePythonEnvironment(join(deployment.folder, 'python'), [PACKAGE]).catch(
      () => undefined,
    );
    if (programs === undefined) {
      report.tried(`${CHECK} (skipped: Python or its package index is missing)`, 0);
      return;
    }
    const program = join(programs, 'schemathesis');
    const seller = await deployment.newSeller('Schemathesis');
    // Without these scopes a request to the paths of the buyer app is refused before its access token is read.
    const scopes = ['users:read', 'users:write', 'buyers:register', 'buyers:links'];
    const set = (all: readonly string[]) =>
      deployment.admin('keys', 'scopes', seller.keyId, '--set', all.join(','), '--yes');
    // A second start of the program takes as long as the requests of a quick run, of which three random bodies an operation find little.
    const isFull = scale === 1;
    if (isFull) {
      await set([...scopes, 'events:read', 'key:rotate']);
      await tryExamples(options, program, seller);
    }
    await set(scopes);
    await runSchemathesis(options, {
      program,
      document: `${deployment.baseUrl()}/v1/openapi.json`,
      key: seller.key,
      options: ['--phases', isFull ? 'coverage,fuzzing' : 'coverage', '--max-examples', '50'],
    });
  },
};
