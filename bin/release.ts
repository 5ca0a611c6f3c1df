/** `npm run release`: cuts a release. Exits 1 if it refuses, 2 on a wrong command line. */
import { commandLine, wrongCommandLine } from './command-line.ts';
import { cutRelease, PARTS, type Part, ReleaseRefused } from './release/cut-release.ts';

const USAGE = `Usage: npm run release -- <patch|minor|major>

Raises the version in package.json and package-lock.json, moves the entries under "Unreleased" of CHANGELOG.md to it,
commits, and tags the commit v<version>. Pushes nothing.

Refuses off main, with uncommitted changes, without an entry in CHANGELOG.md, and if \`npm run check\` fails.`;

const { positionals } = commandLine(USAGE, { allowPositionals: true });
const [part, ...others] = positionals;
if (others.length > 0 || !PARTS.includes(part as Part)) {
  wrongCommandLine(`Name the part of the version that rises: ${PARTS.join(', ')}`);
}

try {
  const tag = cutRelease({
    root: process.cwd(),
    part: part as Part,
    date: new Date().toISOString().slice(0, 10),
  });
  console.log(`Tagged ${tag}. To publish it: git push --follow-tags`);
} catch (error) {
  if (!(error instanceof ReleaseRefused)) throw error;
  console.error(`No release was cut. ${error.message}`);
  process.exitCode = 1;
}
