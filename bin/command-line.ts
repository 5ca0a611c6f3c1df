import { type ParseArgsConfig, parseArgs } from 'node:util';
import { escaped } from '#admin/cli/escaped.ts';
import { redact } from '#shared/log.ts';

/**
 * Parses the options and arguments of a program, as `parseArgs` does. Prints `usage` and exits 0 on --help. Prints one sentence and
 * exits 2 if the command line is wrong.
 */
export const commandLine = <const Config extends ParseArgsConfig>(usage: string, config: Config) => {
  if (process.argv.slice(2).includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    return wrongCommandLine((error as Error).message.split('. ')[0] ?? '');
  }
};

/** Prints what is wrong, without a secret or a phone that was typed and without its control characters, and exits 2. */
export const wrongCommandLine = (sentence: string): never => {
  console.error(`${escaped(redact(sentence.replace(/\.$/, '')))}. Try --help.`);
  process.exit(2);
};
