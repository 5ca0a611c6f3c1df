/** The parts of a version, in the words of Semantic Versioning. */
export const PARTS = ['patch', 'minor', 'major'] as const;

export type Part = (typeof PARTS)[number];

/** Returns the version that follows `1.2.3`: a higher part sets the lower ones to 0. */
export const nextVersion = (version: string, part: Part): string => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (part === 'major') return `${major + 1}.0.0`;
  return part === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
};

/** Sets the version of a package.json or package-lock.json. Returns the new text. */
export const withVersion = (json: string, version: string): string => {
  const content = JSON.parse(json);
  content.version = version;
  const root = content.packages?.[''];
  if (root !== undefined) root.version = version;
  return `${JSON.stringify(content, null, 2)}\n`;
};
