import { SingleBar } from 'cli-progress';
import { abortOnInterrupt } from './interrupt.ts';
import type { Terminal } from './terminal.ts';

/** What long work gets: a signal that Ctrl-C or SIGTERM aborts, and a function that shows how many of its items are done. */
interface Progress {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/** Runs long work, with its progress on stderr if that is a terminal. */
export const withProgress = async <T>(
  { errorStream: stream }: Pick<Terminal, 'errorStream'>,
  items: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> => {
  const format = `{bar} {percentage} %  {value} of {total} ${items}  {eta_formatted}`;
  // Ctrl-C ends the work after its step: abortOnInterrupt.
  const look = { barsize: 24, barCompleteChar: '#', barIncompleteChar: '.', gracefulExit: false };
  const bar = new SingleBar({ stream, format, ...look });
  const { signal, restore } = abortOnInterrupt();
  const onProgress = (done: number, total: number): void => {
    if (!bar.isActive) bar.start(total, done);
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
