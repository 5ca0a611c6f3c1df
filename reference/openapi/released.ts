/** The released documents: one file per minor version of the interface, e.g. openapi/released/1.0.json. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { breakingChanges, type Document, raisesMajorVersion } from './breaking-changes.ts';

/** Returns the names of the released documents in `folder`; none if the folder is missing. */
const releasesIn = (folder: string): readonly string[] =>
  (existsSync(folder) ? readdirSync(folder) : []).filter((file) => file.endsWith('.json'));

/** The name of the released document of a document's minor version. */
const fileOf = ({ info }: Document): string => `${info.version.split('.').slice(0, 2).join('.')}.json`;

interface Break {
  readonly file: string;
  readonly changes: readonly string[];
}

/** Returns the released documents whose callers the document breaks without a higher major version. */
const breaksOf = (document: Document, folder: string): readonly Break[] =>
  releasesIn(folder)
    .map((file) => {
      const released = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Document;
      return {
        file,
        changes: raisesMajorVersion(released, document) ? [] : breakingChanges(released, document),
      };
    })
    .filter(({ changes }) => changes.length > 0);

const messageOf = ({ file, changes }: Break, remedy: string): string =>
  `the document breaks callers of the released version ${file.slice(0, -'.json'.length)}. ` +
  `Undo the change, or ${remedy}:${changes.map((change) => `\n  - ${change}`).join('')}`;

const RAISE = 'raise the major number of info.version';
const REPLACE =
  'replace its document with `npm run openapi -- --release`, since nobody uses this version yet';

/**
 * Compares the document with every released minor version. Returns a message for each version whose callers it breaks without a
 * higher major version. `isInUse`: whether callers use the document's minor version.
 */
export const releaseProblems = (document: Document, folder: string, isInUse: boolean): readonly string[] => {
  if (releasesIn(folder).length === 0) return [`${folder} holds no released document to compare with.`];
  return breaksOf(document, folder).map((each) =>
    messageOf(each, isInUse || each.file !== fileOf(document) ? RAISE : REPLACE),
  );
};

/**
 * Writes the document as the released document of its minor version. Refuses, with messages, to replace a released document whose
 * callers it would break. While nobody uses the minor version, its document has no callers.
 */
export const release = (document: Document, folder: string, isInUse: boolean): readonly string[] => {
  const file = fileOf(document);
  const breaks = breaksOf(document, folder).filter((each) => isInUse || each.file !== file);
  if (breaks.length > 0) return breaks.map((each) => messageOf(each, RAISE));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), `${JSON.stringify(document, null, 2)}\n`);
  return [];
};
