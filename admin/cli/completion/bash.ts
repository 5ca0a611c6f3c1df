import type { Command } from 'commander';
import { PROGRAM } from '../command.ts';
import { commandsIn, listsOf, namesIn, TARGET_OPTIONS, valueName, valueOptions } from './commands.ts';

/** How long the rows of a list serve further Tabs: bash keeps them, zsh runs the function in a subshell and reads them each time. */
const KEPT_SECONDS = 10;

/**
 * Reads `sellers list` or `keys list` and adds what begins like the typed text: ids, names of sellers, and the id of the one key whose
 * name does. Bash shows several ids with their names, which are not part of the line. A list that cannot be read has none.
 * What was typed is never evaluated. `path`, `status`, `commands` and `options` are variables of zsh itself.
 */
const LISTS = `_buyer_linking_read() {
  [ "$*" = "$_buyer_linking_list" ] && ((SECONDS - _buyer_linking_at < ${KEPT_SECONDS})) && return
  _buyer_linking_rows="$(command ${PROGRAM} "$@" 2>/dev/null </dev/null | tail -n +2)"
  _buyer_linking_list="$*" _buyer_linking_at=$SECONDS
}
_buyer_linking_sellers() {
  local id name rest typed="$1"
  shift
  _buyer_linking_read sellers list "$@"
  while IFS=$'\\t' read -r id name rest; do
    case "$id" in
      '') ;;
      "$typed"*) found+=("$id") about+=("$name") ;;
      *) case "$name" in "$typed"*) found+=("$name") about+=('') ;; esac ;;
    esac
  done <<< "$_buyer_linking_rows"
}
_buyer_linking_keys() {
  local id seller name secret plan state rest typed="$1"
  local -a named=()
  shift
  _buyer_linking_read keys list "$@"
  while IFS=$'\\t' read -r id seller name secret plan state rest; do
    [ -n "$id" ] && [ "$state" != revoked ] || continue
    case "$id" in
      "$typed"*) found+=("$id") about+=("$name, $secret") ;;
      *) case "$name" in "$typed"*) named+=("$id") ;; esac ;;
    esac
  done <<< "$_buyer_linking_rows"
  [ \${#found[@]} -eq 0 ] && [ \${#named[@]} -eq 1 ] && found=("\${named[@]}")
}
_buyer_linking_reply() {
  local index
  for ((index = 0; index < \${#found[@]}; index++)); do
    case "$word" in
      [\\'\\"]*) COMPREPLY+=("\${found[index]}") ;;
      *) COMPREPLY+=("$(printf %q "\${found[index]}")") ;;
    esac
    if [ \${#found[@]} -gt 1 ] && [ -n "\${about[index]}" ] && [ -z "$ZSH_VERSION" ]; then
      COMPREPLY[index]="\${COMPREPLY[index]}  (\${about[index]})"
    fi
  done
}
`;

const flagsOf = ({ options }: Command): string => options.map(({ long }) => long).join(' ');

const pattern = (texts: readonly string[]): string => [...new Set(texts)].join('|');

const functionsOf = (argument: string): string =>
  listsOf(argument)
    .map((list) => `_buyer_linking_${list} "$typed" "\${target[@]}"`)
    .join('; ');

/** The cases of the values of options: one of a closed list, or an item of a list. */
const valueCases = (program: Command): string[] =>
  valueOptions(program).flatMap((option) => {
    const { long, argChoices } = option;
    if (argChoices !== undefined) {
      return [`    ${long}) COMPREPLY=($(compgen -W '${argChoices.join(' ')}' -- "$word")); return ;;`];
    }
    const items = functionsOf(valueName(option));
    return items === '' ? [] : [`    ${long}) ${items}; _buyer_linking_reply; return ;;`];
  });

/** The cases of first arguments that are items of a list: \`'keys show 0'\`. */
const argumentCases = (program: Command): string[] =>
  commandsIn(program).flatMap(
    ([
      path,
      {
        registeredArguments: [first],
      },
    ]) => {
      const items = functionsOf(first?.name() ?? '');
      return items === '' ? [] : [`    '${path} 0') ${items} ;;`];
    },
  );

/** Bash's completion function; zsh runs it too. It offers commands, after a dash options, sellers and keys, and files where there is none of these. */
export const bashScript = (program: Command): string => {
  const all = commandsIn(program);
  const paths = all.slice(1).map(([path]) => `'${path}'`);
  const cases = all.map(
    ([path, command]) => `    '${path}') names='${namesIn(command)}' flags='${flagsOf(command)}' ;;`,
  );
  const targets = TARGET_OPTIONS.map((option) => `${option}=*`);
  return `${LISTS}_buyer_linking() {
  local at='' names='' flags='' word="\${COMP_WORDS[COMP_CWORD]}" current='' previous='' count=0 index
  local -a target=() found=() about=()
  local typed="\${word//[\\\\\\"\\']/}"
  for ((index = 1; index < COMP_CWORD; index++)); do
    current="\${COMP_WORDS[index]}"
    [ "$current" = = ] && continue
    case "$previous" in
      ${pattern(TARGET_OPTIONS)}) target+=("$previous" "$current") ;;
    esac
    case "$previous" in
      ${pattern(valueOptions(program).map(({ long }) => String(long)))}) previous=''; continue ;;
    esac
    previous="$current"
    case "$current" in
      ${pattern(targets)}) target+=("$current"); continue ;;
      -*) continue ;;
    esac
    case "\${at:+$at }$current" in
      ${paths.join('|')})
        at="\${at:+$at }$current" ;;
      *) count=$((count + 1)) ;;
    esac
  done
  case "$previous" in
${[...new Set(valueCases(program))].join('\n')}
  esac
  case "$at" in
${cases.join('\n')}
  esac
  case "$word" in
    -*) names="$flags ${flagsOf(program)} --help" ;;
    *)
      case "$at $count" in
${argumentCases(program)
  .map((line) => `    ${line}`)
  .join('\n')}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$names" -- "$word"))
  _buyer_linking_reply
}
complete -o default -F _buyer_linking ${PROGRAM}
`;
};
