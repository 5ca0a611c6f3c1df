import { readFileSync } from 'node:fs';

const REPOSITORY = new URL('../../', import.meta.url);

/** Returns the text of a page. The path is relative to the repository. */
export const textOf = (page: string): string => readFileSync(new URL(page, REPOSITORY), 'utf8');

/** The output that a page shows. */
export interface Output {
  readonly language: string;
  readonly text: string;
}

/** A command of a page, and the output that the page shows for it. */
export interface Command {
  readonly text: string;
  readonly shown: Output | undefined;
}

/** A program that the reader saves in the current folder. */
export interface SavedFile {
  readonly name: string;
  readonly text: string;
}

/** What the snippets of a page ask the reader to do, in order. */
export interface Page {
  readonly steps: readonly (Command | SavedFile)[];
  /** The first lines of the snippets that are neither. */
  readonly notRun: readonly string[];
}

interface Block {
  readonly language: string;
  readonly text: string;
  /** The prose between the previous block and this one. */
  readonly prose: string;
}

const COMMANDS = 'sh';
const PROGRAMS = ['ts', 'python'];
const OUTPUTS = ['json', 'text', 'http'];
const DRAWINGS = ['mermaid'];

const blocksOf = (markdown: string): readonly Block[] => {
  let end = 0;
  // Also the blocks of a quotation.
  const unquoted = markdown.replaceAll(/^> ?/gm, '');
  return [...unquoted.matchAll(/^```(\S*)\n([\s\S]*?)^```$/gm)].map(
    ({ 0: all, 1: language, 2: code, index }) => {
      const prose = unquoted.slice(end, index);
      end = index + all.length;
      return { language: String(language), text: String(code), prose };
    },
  );
};

/** The name in the prose before a program: "Save this as `link.ts`:". */
const fileNameIn = ({ prose }: Block): string | undefined =>
  [...prose.matchAll(/`([\w-]+\.(?:m?ts|py))`/g)].at(-1)?.[1];

/** Parses a page. A `sh` block is a command; a program with a file name before it is saved; an output belongs to the command before it. */
export const parsePage = (markdown: string): Page => {
  const steps: (Command | SavedFile)[] = [];
  const notRun: string[] = [];
  const blocks = blocksOf(markdown);
  for (const [index, block] of blocks.entries()) {
    const [previous, next] = [blocks[index - 1], blocks[index + 1]];
    const name = PROGRAMS.includes(block.language) ? fileNameIn(block) : undefined;
    if (block.language === COMMANDS) {
      steps.push({ text: block.text, shown: next && OUTPUTS.includes(next.language) ? next : undefined });
    } else if (name !== undefined) {
      steps.push({ name, text: block.text });
    } else if (OUTPUTS.includes(block.language) && previous?.language === COMMANDS) {
      // Compared with the output of its command.
    } else if (!DRAWINGS.includes(block.language)) {
      notRun.push(block.text.split('\n', 1)[0] ?? '');
    }
  }
  return { steps, notRun };
};

/** Returns the pages for sellers in reading order: the README, and the numbered list in it. */
export const pagesInReadingOrder = (): readonly string[] => {
  const items = textOf('README.md').match(/^\d+\. \[.*$/gm) ?? [];
  const links = items.flatMap((item) => [...item.matchAll(/\]\(([\w/-]+\.md)\)/g)]);
  return ['README.md', ...links.map(([, path]) => String(path))];
};
