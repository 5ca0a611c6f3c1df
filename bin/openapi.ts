/**
 * `npm run openapi` writes openapi.json and the operations in the README from the route table. `--check` compares the file with the table, the standard and the
 * document of the last release tag.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { breakingChanges, canCompare, lastRelease } from '#openapi/compatibility.ts';
import { buildDocument } from '#openapi/document.ts';
import { operationTable } from '#openapi/operation-table.ts';
import { standardProblems } from '#openapi/standard.ts';
import { commandLine } from './command-line.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = 'openapi.json';
const TYPES = 'client/src/generated/openapi.ts';

const USAGE = `Usage: npm run openapi -- [options]

Writes openapi.json and the operations in the README from the route table, and
the client's types.

Options:
  --check    compare the file with the table, the standard and the last release
             tag; write nothing`;

const { values } = commandLine(USAGE, { options: { check: { type: 'boolean', default: false } } });

const document = buildDocument();
const text = `${JSON.stringify(document, null, 2)}\n`;
const released = lastRelease(ROOT);

/** Returns the operations and schemas that the client's types lack. `npm run test:client` compares the whole file, for which it installs the generator. */
const missingInTypes = (): readonly string[] => {
  const types = readFileSync(`${ROOT}${TYPES}`, 'utf8');
  const operations = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => `"${operationId}": {`),
  );
  const schemas = Object.keys(document.components.schemas).map((name) => `${name}: {`);
  return [...operations, ...schemas].filter((name) => !types.includes(` ${name}`));
};

const check = async (): Promise<readonly string[]> => {
  const isCurrent = existsSync(ROOT + FILE) && readFileSync(ROOT + FILE, 'utf8') === text;
  return [
    ...(isCurrent
      ? []
      : ['openapi.json differs from the route table. Run `npm run openapi` and commit what it writes.']),
    ...(missingInTypes().length === 0
      ? []
      : [
          `${TYPES} is behind the route table. Run \`npm ci --prefix client\` once, then \`npm run openapi\`.`,
        ]),
    ...(await standardProblems(text, { root: ROOT, file: FILE })),
    ...(released !== undefined && canCompare() ? breakingChanges(ROOT, released) : []),
  ];
};

/** Writes the operations into the README, between two comments. */
const writeOperations = (): void => {
  const readme = readFileSync(`${ROOT}README.md`, 'utf8');
  const block = /(?<=<!-- operations -->\n\n).*?(?=\n\n<!-- \/operations -->)/s;
  if (!block.test(readme)) throw new Error('README.md has no place for the operations');
  writeFileSync(`${ROOT}README.md`, readme.replace(block, operationTable));
};

/** Generates the client's types if its tools are installed; the client has its own lock file. */
const generateClientTypes = (): void => {
  if (existsSync(`${ROOT}client/node_modules/openapi-typescript`)) {
    execFileSync('npm', ['run', '--silent', '--prefix', 'client', 'generate'], { cwd: ROOT });
  } else console.log('Now run: npm ci --prefix client && npm run generate --prefix client');
};

/** Says with what the document was compared. */
const comparison = (): string => {
  if (released === undefined) return 'no release to compare it with';
  return canCompare() ? `compatible with ${released}` : `NOT compared with ${released}, which needs Go`;
};

if (values.check) {
  const problems = await check();
  for (const problem of problems) console.error(`openapi: ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
  if (problems.length === 0) console.log(`openapi: the document is current and valid; ${comparison()}.`);
} else {
  writeFileSync(ROOT + FILE, text);
  writeOperations();
  generateClientTypes();
}
