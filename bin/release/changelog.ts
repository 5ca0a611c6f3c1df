/** CHANGELOG.md in the form of keepachangelog.com. */

const UNRELEASED = '## [Unreleased]\n';
const NEXT_RELEASE = '\n## [';

/** Returns the notes of the next release; undefined if there is no entry under "Unreleased". */
export const unreleasedNotes = (changelog: string): string | undefined => {
  const start = changelog.indexOf(UNRELEASED);
  if (start === -1) return undefined;
  const [notes = ''] = changelog.slice(start + UNRELEASED.length).split(NEXT_RELEASE);
  return /^- /m.test(notes) ? notes.trim() : undefined;
};

/** Moves the entries under "Unreleased" to a new release. `date` is `2026-01-31`. */
export const withRelease = (changelog: string, version: string, date: string): string =>
  changelog.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${date}\n`);
