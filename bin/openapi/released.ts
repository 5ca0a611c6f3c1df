/** The released documents: one file per minor version of the interface, e.g. openapi/released/1.0.json. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { breakingChanges, type Document, raisesMajorVersion } from './breaking-changes.ts';

/** Returns the names of the released documents in `folder`; none if the folder is missing. */
const releasesIn = (folder: string): readonly string[] =>
  (existsSync(folder) ? readdirSync(folder) : []).filter((file) => file.endsWith('.json'));

/**
 * Compares the document with every released minor version. Returns a message for each version whose callers it breaks without a
 * higher major version.
 */
export const releaseProblems = (document: Document, folder: string): readonly string[] => {
  const files = releasesIn(folder);
  if (files.length === 0) return [`${folder} holds no released document to compare with.`];
  return files.flatMap((file) => {
    const released = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Document;
    const changes = raisesMajorVersion(released, document) ? [] : breakingChanges(released, document);
    if (changes.length === 0) return [];
    const list = changes.map((change) => `\n  - ${change}`).join('');
    return [
      `the document breaks callers of the released version ${file.slice(0, -'.json'.length)}. ` +
        `Undo the change, or raise the major number of info.version:${list}`,
    ];
  });
};

/**
 * Writes the document as the released document of its minor version. Refuses, with messages, to replace a released document whose
 * callers it would break.
 */
export const release = (document: Document, folder: string): readonly string[] => {
  const problems = releasesIn(folder).length === 0 ? [] : releaseProblems(document, folder);
  if (problems.length > 0) return problems;
  const version = document.info.version.split('.').slice(0, 2).join('.');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${version}.json`), `${JSON.stringify(document, null, 2)}\n`);
  return [];
};
