import type { Plugin } from 'vite';

/** The languages of the samples of operations and of their responses, without those that they may embed. */
const USED = ['javascript', 'json', 'php', 'python', 'shellscript', 'xml'];

/** The grammars of vitepress-openapi, those in use included. */
const GRAMMARS = 235;

/**
 * Leaves out the grammars of more than two hundred other languages: three quarters of the site, and half of the time of its build. Fails the
 * build if vitepress-openapi has another number of grammars than this file knows: a new version may name or write them in another way.
 */
export const usedGrammars = (): Plugin => {
  const found = new Set<string>();
  return {
    name: 'used-grammars',
    enforce: 'pre',
    apply: (_config, { isSsrBuild }) => isSsrBuild !== true,
    transform(code, id) {
      const [, language] = /\/vitepress-openapi\/dist\/([a-z0-9-]+)-[\w-]{8}\.js$/.exec(id) ?? [];
      if (language === undefined || !code.includes('Object.freeze(JSON.parse(')) return undefined;
      found.add(id);
      // A name without rules: a grammar that embeds it asks for it.
      const grammar = JSON.stringify({ name: language, scopeName: `none.${language}`, patterns: [] });
      return USED.includes(language) ? undefined : `export const t = [${grammar}]; export default t;`;
    },
    buildEnd(error) {
      if (error === undefined && found.size !== GRAMMARS)
        this.error(`vitepress-openapi has ${found.size} grammars, and not ${GRAMMARS}: see grammars.ts`);
    },
  };
};
