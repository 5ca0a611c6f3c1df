import { readFileSync } from 'node:fs';

/** Returns the packages that the documentation site ships, as SECURITY.md lists them. A browser test compares the list with the built site. */
export const shippedPackages = (): readonly string[] => {
  const text = readFileSync(new URL('../SECURITY.md', import.meta.url), 'utf8');
  const [, list = ''] =
    /^- The documentation site ships these packages[^:]*:([^.]*(?:\.js[^.]*)*)\. /ms.exec(text) ?? [];
  return [...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
};
