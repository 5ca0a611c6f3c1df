import type { Command } from 'commander';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';

/** The shells that `completion` writes a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/**
 * Returns the completion script of a shell. The scripts hold all commands and options; for a seller or a key they run `sellers list` or
 * `keys list`. (@bomb.sh/tab starts the program at each Tab, and its bash script evaluates what was typed.)
 */
export const completionScript = (shell: (typeof SHELLS)[number], program: Command): string => {
  if (shell === 'fish') return fishScript(program);
  const zsh = 'autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n';
  return shell === 'zsh' ? zsh + bashScript(program) : bashScript(program);
};
