/** Exits 1 if folders import each other in a cycle. Biome finds cycles of files, but not of folders. */
import { globSync, readFileSync } from 'node:fs';
import { posix, sep } from 'node:path';
import { commandLine } from './command-line.ts';

commandLine(
  'Usage: npm run lint\n\nExits 1 if folders import each other in a cycle, type-only imports included.',
  {},
);

const FILES = '{admin,bench,bin,functions,lib,local,shared}/**/*.ts';
const IMPORT = /\b(?:from|import)[\s(]*'([#.][^']+)'/g;

/** The node of a file: its folder, or the file itself if it is directly under a top folder such as shared/. */
const nodeOf = (file: string): string => {
  const folder = posix.dirname(file);
  return folder.includes('/') ? folder : file;
};

const importsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, target = '']) =>
    target.startsWith('#') ? target.slice(1) : posix.join(posix.dirname(file), target),
  );

/** For each node, the nodes that it imports, each with one import as an example. */
const imports = new Map<string, Map<string, string>>();
for (const file of globSync(FILES, { exclude: ['**/node_modules/**'] }).map((path) =>
  path.replaceAll(sep, '/'),
)) {
  const node = nodeOf(file);
  const targets = imports.get(node) ?? new Map<string, string>();
  imports.set(node, targets);
  for (const target of importsOf(file)) {
    if (nodeOf(target) !== node) targets.set(nodeOf(target), `${file} imports ${target}`);
  }
}

const visited = new Set<string>();

/** Returns the imports of a cycle that begins at a node, or behind it; undefined if there is none. */
const cycleFrom = (node: string, path: ReadonlyMap<string, string>): readonly string[] | undefined => {
  if (path.has(node)) return [...path.values()].slice([...path.keys()].indexOf(node));
  if (visited.has(node)) return undefined;
  visited.add(node);
  for (const [target, example] of imports.get(node) ?? []) {
    const cycle = cycleFrom(target, new Map([...path, [node, example]]));
    if (cycle !== undefined) return cycle;
  }
  return undefined;
};

for (const node of imports.keys()) {
  const cycle = cycleFrom(node, new Map());
  if (cycle === undefined) continue;
  console.error(`These imports form a cycle of folders:\n  ${cycle.join('\n  ')}`);
  process.exitCode = 1;
  break;
}
