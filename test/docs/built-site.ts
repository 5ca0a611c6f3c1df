/** The built documentation site as files. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { searchOptions } from '../../docs/.vitepress/theme/search.ts';

export const filesOf = (folder: string, pattern: string): readonly string[] =>
  globSync(pattern, { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

/** Returns the search of a language as the search box of VitePress makes it: the addresses of the results, in their order. */
export const searchOf = (folder: string, language: 'root' | 'fa') => {
  const [file = ''] = filesOf(folder, `assets/chunks/@localSearchIndex${language}.*.js`);
  const [, json = ''] = /^const \w=('.*'|`.*`|".*");export\{/s.exec(readFileSync(file, 'utf8')) ?? [];
  const index = MiniSearch.loadJSON(new Function(`return ${json}`)() as string, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 }, ...searchOptions },
  });
  return (query: string): readonly string[] => index.search(query).map(({ id }) => String(id));
};
