/**
 * `npm run openapi` writes openapi.json from the route table. `--check` compares the file with the table, the standard and every
 * released version. `--release` writes the released document of the present minor version.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildDocument, IS_IN_USE } from '#reference/openapi/document.ts';
import { canCompare, release, releaseProblems } from '#reference/openapi/released.ts';
import { standardProblems } from '#reference/openapi/standard.ts';
import { commandLine } from './command-line.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = 'openapi.json';

const USAGE = `Usage: npm run openapi -- [options]

Writes openapi.json from the route table, and the client's types.

Options:
  --check    compare the file with the table, the standard and every released version; write nothing
  --release  also write the released document of the present minor version, in openapi/released/`;

const { values } = commandLine(USAGE, {
  options: { check: { type: 'boolean', default: false }, release: { type: 'boolean', default: false } },
});

const text = `${JSON.stringify(buildDocument(), null, 2)}\n`;
const candidate = { file: ROOT + FILE, folder: `${ROOT}openapi/released`, isInUse: IS_IN_USE };

const check = async (): Promise<readonly string[]> => {
  const isCurrent = existsSync(ROOT + FILE) && readFileSync(ROOT + FILE, 'utf8') === text;
  return [
    ...(isCurrent
      ? []
      : ['openapi.json differs from the route table. Run `npm run openapi` and commit the file.']),
    ...(await standardProblems(text, { root: ROOT, file: FILE })),
    ...(canCompare() ? releaseProblems(candidate) : []),
  ];
};

/** Generates the client's types if its tools are installed; the client has its own lock file. */
const generateClientTypes = (): void => {
  if (existsSync(`${ROOT}client/node_modules/openapi-typescript`)) {
    execFileSync('npm', ['run', '--silent', '--prefix', 'client', 'generate'], { cwd: ROOT });
  } else console.log('Now run: npm ci --prefix client && npm run generate --prefix client');
};

const fail = (problems: readonly string[]): void => {
  for (const problem of problems) console.error(`openapi: ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
};

if (values.check) {
  const problems = await check();
  fail(problems);
  if (problems.length === 0) {
    const comparison = canCompare()
      ? 'compatible with every released version'
      : 'NOT compared with the released versions, which needs Go';
    console.log(`openapi: the document is current, valid and ${comparison}.`);
  }
} else {
  writeFileSync(ROOT + FILE, text);
  if (values.release) fail(release(candidate));
  generateClientTypes();
}
