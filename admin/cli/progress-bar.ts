import { SingleBar } from 'cli-progress';
import { abortOnInterrupt, type Terminal } from './terminal.ts';

/** What long work gets: a signal that Ctrl-C or SIGTERM aborts, and a function that shows how many of its items are done. */
interface Progress {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/** Runs long work, with its progress on stderr if that is a terminal. */
export const withProgress = async <T>(
  { errorStream }: Pick<Terminal, 'errorStream'>,
  items: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> => {
  const bar = new SingleBar({
    stream: errorStream,
    format: `{bar} {percentage} %  {value} of {total} ${items}  {eta_formatted}`,
    barsize: 24,
    barCompleteChar: '#',
    barIncompleteChar: '.',
    // Ctrl-C ends the work after its step: abortOnInterrupt.
    gracefulExit: false,
  });
  const { signal, restore } = abortOnInterrupt();
  bar.start(0, 0);
  const onProgress = (done: number, total: number): void => {
    bar.setTotal(total);
    bar.update(done);
  };
  try {
    return await work({ signal, onProgress });
  } finally {
    bar.stop();
    restore();
  }
};
