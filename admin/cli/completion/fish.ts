import type { Command, Option } from 'commander';
import { PROGRAM } from '../command.ts';
import { commandsIn, listsOf, namesIn, TARGET_OPTIONS, valueName } from './commands.ts';

/** Writes the sellers by id and by name, or the keys by id, each with a description. A list that cannot be read has none. */
const LISTS = `function __buyer_linking_list
  set -l words (commandline -opc)
  set -l target
  for index in (seq (count $words))
    switch $words[$index]
      case ${TARGET_OPTIONS.join(' ')}
        set -a target $words[$index] $words[(math $index + 1)]
      case ${TARGET_OPTIONS.map((option) => `'${option}=*'`).join(' ')}
        set -a target $words[$index]
    end
  end
  for row in (command ${PROGRAM} $argv list $target 2>/dev/null </dev/null | tail -n +2)
    set -l cells (string split \\t -- $row)
    if test $argv = sellers
      printf '%s\\t%s\\n' $cells[1] $cells[2] $cells[2] $cells[1]
    else if test "$cells[6]" != revoked
      printf '%s\\t%s, %s\\n' $cells[1] $cells[3] $cells[4]
    end
  end
end
`;

const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;

const listed = (argument: string): string =>
  listsOf(argument)
    .map((list) => `(__buyer_linking_list ${list})`)
    .join(' ');

/** What follows an option: nothing, one of its values, an item of a list, or any text. */
const valueAfter = (option: Option): string => {
  const values = option.argChoices?.join(' ') ?? listed(valueName(option));
  if (values !== '') return ` -x -a ${quoted(values)}`;
  return option.required ? ' -r' : '';
};

/** Returns fish's completions: commands, options and their values, sellers and keys. */
export const fishScript = (program: Command): string => {
  const lines = commandsIn(program).flatMap(([path, command]) => {
    const inside = path.split(' ').flatMap((word) => (word ? [`__fish_seen_subcommand_from ${word}`] : []));
    const names = namesIn(command);
    const here = names === '' ? inside : [...inside, `not __fish_seen_subcommand_from ${names}`];
    const when = (tests: readonly string[]): string =>
      tests.length === 0 ? '' : ` -n ${quoted(tests.join('; and '))}`;
    const items = listed(command.registeredArguments[0]?.name() ?? '');
    return [
      ...command.commands.map(
        (child) => `${when(here)} -f -a ${child.name()} -d ${quoted(child.description())}`,
      ),
      ...command.options.map(
        (option) =>
          `${when(inside)} -l ${option.long?.slice(2)}${valueAfter(option)} -d ${quoted(option.description)}`,
      ),
      ...(items === '' ? [] : [`${when(inside)} -f -a ${quoted(items)}`]),
    ];
  });
  return LISTS + lines.map((line) => `complete -c ${PROGRAM}${line}\n`).join('');
};
