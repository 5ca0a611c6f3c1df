import { SingleBar } from 'cli-progress';
import type { Terminal } from './terminal.ts';

/** Shows progress on stderr, if that is a terminal. */
export const progressBar = ({ errorStream }: Pick<Terminal, 'errorStream'>, total: number, items: string) => {
  const bar = new SingleBar({
    stream: errorStream,
    format: `{bar} {percentage} %  {value} of {total} ${items}  {eta_formatted}`,
    barsize: 24,
    barCompleteChar: '#',
    barIncompleteChar: '.',
    // Ctrl-C ends the work after its step: abortOnInterrupt.
    gracefulExit: false,
  });
  bar.start(total, 0);
  return bar;
};
