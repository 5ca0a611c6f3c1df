import type { Command } from 'commander';
import { PROGRAM } from './command.ts';

/** The shells that `completion` writes a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

interface Node {
  /** `keys issue`, or '' for the program. */
  readonly path: string;
  readonly command: Command;
}

/** The program and all its commands. */
const nodesOf = (command: Command, path = ''): Node[] => [
  { path, command },
  ...command.commands.flatMap((child) => nodesOf(child, `${path} ${child.name()}`.trim())),
];

const flagsOf = (command: Command): string => command.options.map(({ long }) => long).join(' ');

/** The options with a closed list of values, once each, such as `--plan`. */
const choicesOf = (nodes: readonly Node[]): ReadonlyMap<string, string> =>
  new Map(
    nodes
      .flatMap(({ command }) => command.options)
      .filter(({ argChoices }) => argChoices !== undefined)
      .map(({ long, argChoices }) => [String(long), String(argChoices?.join(' '))]),
  );

/** Bash's completion function; zsh runs it too. It offers commands, after a dash options, and files where there are neither. */
const bashScript = (program: Command): string => {
  const nodes = nodesOf(program);
  const cases = nodes.map(({ path, command }) => {
    const names = command.commands.map((child) => child.name()).join(' ');
    return `    '${path}') commands='${names}' options='${flagsOf(command)}' ;;`;
  });
  const choices = [...choicesOf(nodes)].map(
    ([flag, values]) => `    ${flag}) COMPREPLY=($(compgen -W '${values}' -- "$word")); return ;;`,
  );
  return `_buyer_linking() {
  local path='' commands='' options='' word="\${COMP_WORDS[COMP_CWORD]}" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${path:+$path }\${COMP_WORDS[index]}" in
      ${nodes
        .slice(1)
        .map(({ path }) => `'${path}'`)
        .join('|')})
        path="\${path:+$path }\${COMP_WORDS[index]}" ;;
    esac
  done
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${choices.join('\n')}
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
  const lines = nodesOf(program).flatMap(({ path, command }) => {
    const words = path.split(' ').filter((word) => word !== '');
    const inside = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const children = command.commands.map((child) => child.name());
    const here =
      children.length === 0 ? inside : [...inside, `not __fish_seen_subcommand_from ${children.join(' ')}`];
    const when = (tests: readonly string[]): string =>
      tests.length === 0 ? '' : ` -n ${quoted(tests.join('; and '))}`;
    return [
      ...command.commands.map(
        (child) => `${when(here)} -f -a ${child.name()} -d ${quoted(child.description())}`,
      ),
      ...command.options.map((option) => {
        const values = option.argChoices === undefined ? '' : ` -x -a ${quoted(option.argChoices.join(' '))}`;
        const value = option.required && values === '' ? ' -r' : values;
        return `${when(inside)} -l ${option.long?.slice(2)}${value} -d ${quoted(option.description)}`;
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
