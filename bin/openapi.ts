/** `npm run openapi` writes openapi.json from the route table; `npm run openapi:check` holds it to the table, the standard and its past. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import SwaggerParser from '@apidevtools/swagger-parser';
import { buildDocument } from '#bin/openapi/document.ts';
import { type Document, judgeChanges } from './openapi/breaking-changes.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = `${ROOT}openapi.json`;

const folded = (): string => `${JSON.stringify(buildDocument(), null, 2)}\n`;

const git = (...args: string[]): string | undefined => {
  try {
    return execFileSync('git', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 26,
    });
  } catch {
    return undefined;
  }
};

/** The newest committed document that is not the present one, among the last two commits that changed it. */
const previousDocument = (
  present: string,
): { readonly revision: string; readonly text: string } | undefined => {
  const revisions = git('log', '-2', '--format=%h', '--', 'openapi.json')?.split('\n') ?? [];
  for (const revision of revisions.filter((line) => line !== '')) {
    const text = git('show', `${revision}:openapi.json`);
    if (text !== undefined && text !== present) return { revision, text };
  }
  return undefined;
};

const checkDrift = (present: string): string[] =>
  readFileSync(FILE, 'utf8') === present
    ? []
    : ['openapi.json differs from the route table: run `npm run openapi` and commit it.'];

const checkStandard = async (present: string): Promise<string[]> => {
  try {
    await SwaggerParser.validate(JSON.parse(present));
  } catch (error) {
    return [`swagger-parser: ${(error as Error).message}`];
  }
  // The linter would ask the registry for news of itself and report its use; a check needs no network.
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const lint = spawnSync(
    process.execPath,
    [`${ROOT}node_modules/@redocly/cli/bin/cli.js`, 'lint', 'openapi.json', '--max-problems=50'],
    {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    },
  );
  return lint.status === 0 ? [] : [`redocly lint:\n${lint.stdout}${lint.stderr}`];
};

const checkPast = (present: string): string[] => {
  const previous = previousDocument(present);
  if (previous === undefined) {
    console.log('openapi: this clone holds no earlier document; nothing to compare.');
    return [];
  }
  const { breaking, allowed } = judgeChanges(
    JSON.parse(previous.text) as Document,
    JSON.parse(present) as Document,
  );
  if (breaking.length === 0) return [];
  const list = breaking.map((change) => `  - ${change}`).join('\n');
  if (allowed) {
    console.log(`openapi: breaking since ${previous.revision}, and the version says so:\n${list}`);
    return [];
  }
  return [
    `breaking since ${previous.revision}, and info.version does not say so (raise its major number):\n${list}`,
  ];
};

/** The client's types follow, where its tools are installed: it has a lock file of its own. */
const generateClientTypes = (): void => {
  const isInstalled = existsSync(`${ROOT}client/node_modules/openapi-typescript`);
  if (isInstalled) execFileSync('npm', ['run', '--silent', '--prefix', 'client', 'generate'], { cwd: ROOT });
  else console.log('Now run: npm ci --prefix client && npm run generate --prefix client');
};

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const present = folded();
if (values.check) {
  const faults = [...checkDrift(present), ...(await checkStandard(present)), ...checkPast(present)];
  for (const fault of faults) console.error(`openapi: ${fault}`);
  if (faults.length === 0) console.log('openapi: the document is the table’s, valid and compatible.');
  process.exitCode = faults.length === 0 ? 0 : 1;
} else {
  writeFileSync(FILE, present);
  generateClientTypes();
}
