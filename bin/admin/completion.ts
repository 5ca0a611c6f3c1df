import type { Command } from 'commander';
import { PROGRAM } from './command.ts';

/** The shells that `completion` writes a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** The program and all its commands, with their paths: `keys issue`, or '' for the program. */
const commandsIn = (command: Command, path = ''): (readonly [path: string, command: Command])[] => [
  [path, command],
  ...command.commands.flatMap((child) => commandsIn(child, `${path} ${child.name()}`.trim())),
];

const namesIn = ({ commands }: Command): string => commands.map((child) => child.name()).join(' ');

const flagsOf = ({ options }: Command): string => options.map(({ long }) => long).join(' ');

/** Bash's completion function; zsh runs it too. It offers commands, after a dash options, and files where there are neither. */
const bashScript = (program: Command): string => {
  const all = commandsIn(program);
  const paths = all.slice(1).map(([path]) => `'${path}'`);
  const cases = all.map(
    ([path, command]) => `    '${path}') commands='${namesIn(command)}' options='${flagsOf(command)}' ;;`,
  );
  // The options with a closed list of values, once each, such as `--plan`.
  const choices = all
    .flatMap(([, { options }]) => options)
    .filter(({ argChoices }) => argChoices !== undefined)
    .map(
      ({ long, argChoices }) =>
        `    ${long}) COMPREPLY=($(compgen -W '${argChoices?.join(' ')}' -- "$word")); return ;;`,
    );
  return `_buyer_linking() {
  local path='' commands='' options='' word="\${COMP_WORDS[COMP_CWORD]}" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${path:+$path }\${COMP_WORDS[index]}" in
      ${paths.join('|')})
        path="\${path:+$path }\${COMP_WORDS[index]}" ;;
    esac
  done
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${[...new Set(choices)].join('\n')}
  esac
  case "$path" in
${cases.join('\n')}
  esac
  case "$word" in
    -*) commands="$options ${flagsOf(program)} --help" ;;
  esac
  COMPREPLY=($(compgen -W "$commands" -- "$word"))
}
complete -o default -F _buyer_linking ${PROGRAM}
`;
};

const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;

const fishScript = (program: Command): string => {
  const lines = commandsIn(program).flatMap(([path, command]) => {
    const inside = path.split(' ').flatMap((word) => (word ? [`__fish_seen_subcommand_from ${word}`] : []));
    const names = namesIn(command);
    const here = names === '' ? inside : [...inside, `not __fish_seen_subcommand_from ${names}`];
    const when = (tests: readonly string[]): string =>
      tests.length === 0 ? '' : ` -n ${quoted(tests.join('; and '))}`;
    return [
      ...command.commands.map(
        (child) => `${when(here)} -f -a ${child.name()} -d ${quoted(child.description())}`,
      ),
      ...command.options.map(({ long, argChoices, required, description }) => {
        const value = required ? ' -r' : '';
        const values = argChoices === undefined ? value : ` -x -a ${quoted(argChoices.join(' '))}`;
        return `${when(inside)} -l ${long?.slice(2)}${values} -d ${quoted(description)}`;
      }),
    ];
  });
  return lines.map((line) => `complete -c ${PROGRAM}${line}\n`).join('');
};

/**
 * Returns the completion script of a shell. The scripts hold all commands and options, so a Tab starts no process. (@bomb.sh/tab starts
 * the program at each Tab, and its bash script evaluates what was typed.)
 */
export const completionScript = (shell: (typeof SHELLS)[number], program: Command): string => {
  if (shell === 'fish') return fishScript(program);
  const zsh = 'autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n';
  return shell === 'zsh' ? zsh + bashScript(program) : bashScript(program);
};
