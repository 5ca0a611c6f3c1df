/** Moves the unreleased entries of CHANGELOG.md to the version that `npm version` makes. Exits 1 if there are none, 2 on a wrong command line. */
import { readFileSync, writeFileSync } from 'node:fs';
import { commandLine } from './command-line.ts';

const USAGE = `Usage: node bin/changelog.ts [--check]

A hook of npm version. Moves the entries under "Unreleased" of CHANGELOG.md to
the new version.

Options:
  --check  only checks that there is an entry`;

const FILE = 'CHANGELOG.md';
const UNRELEASED = '## [Unreleased]\n';

const { values } = commandLine(USAGE, { options: { check: { type: 'boolean', default: false } } });
const changelog = readFileSync(FILE, 'utf8');
const [entries = ''] = (changelog.split(UNRELEASED)[1] ?? '').split('\n## [');
if (!/^- /m.test(entries)) {
  console.error(`${FILE} has no entry under "Unreleased". Write what changes for users first.`);
  process.exitCode = 1;
} else if (!values.check) {
  const heading = `## [${process.env.npm_new_version}] - ${new Date().toISOString().slice(0, 10)}\n`;
  writeFileSync(FILE, changelog.replace(UNRELEASED, `${UNRELEASED}\n${heading}`));
}
