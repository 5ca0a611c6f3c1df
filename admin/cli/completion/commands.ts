import type { Command, Option } from 'commander';

/** The program and all its commands, with their paths: `keys issue`, or '' for the program. */
export const commandsIn = (command: Command, path = ''): (readonly [path: string, command: Command])[] => [
  [path, command],
  ...command.commands.flatMap((child) => commandsIn(child, `${path} ${child.name()}`.trim())),
];

/** Returns the names of a command's own commands. */
export const namesIn = ({ commands }: Command): string => commands.map((child) => child.name()).join(' ');

/** Returns the options of all commands that take a value, such as `--plan`. */
export const valueOptions = (program: Command): readonly Option[] =>
  commandsIn(program).flatMap(([, { options }]) => options.filter(({ required }) => required));

/** The options that choose the deployment whose sellers and keys are completed. */
export const TARGET_OPTIONS = ['--stage', '--profile', '--region', '--data'] as const;

/** The lists of which an argument or the value of an option names an item. */
const LISTS: Readonly<Record<string, readonly ('sellers' | 'keys')[]>> = {
  seller: ['sellers'],
  key: ['keys'],
  subject: ['sellers', 'keys'],
};

/** Returns the lists of an argument such as `<seller>`. */
export const listsOf = (argument: string) => LISTS[argument] ?? [];

/** Returns the name of the value of an option: `seller` of `--seller <seller>`. */
export const valueName = ({ flags }: Option): string => /<([\w-]+)>/.exec(flags)?.[1] ?? '';
