import type { Terminal } from '../terminal.ts';

/** How much of a file was read. */
export interface Progress {
  readonly bytes: number;
  readonly lines: number;
}

const BAR_WIDTH = 24;
const REDRAW_MS = 200;
/** The interval between lines where a line cannot be overwritten, such as in a log. */
const LINE_MS = 5000;

const timeLeft = (seconds: number): string => {
  if (!Number.isFinite(seconds)) return '';
  if (seconds < 60) return `${Math.ceil(seconds)} s left`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min left` : `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
};

/** Formats `[######..] 61 %  61,000 lines  13,200/s  3 s left`. `seconds`: since the start. */
export const progressText = (progress: Progress, totalBytes: number, seconds: number): string => {
  const share = totalBytes === 0 ? 1 : Math.min(1, progress.bytes / totalBytes);
  const filled = Math.floor(share * BAR_WIDTH);
  const rate = seconds > 0 ? progress.lines / seconds : 0;
  return [
    `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)} %`,
    `${progress.lines.toLocaleString('en')} lines`,
    `${Math.round(rate).toLocaleString('en')}/s`,
    timeLeft(((totalBytes - progress.bytes) * seconds) / progress.bytes),
  ]
    .filter((part) => part !== '')
    .join('  ');
};

/** Shows progress on stderr: one line that is overwritten, or a line every 5 seconds. `now` returns milliseconds. */
export const progressBar = (terminal: Terminal, totalBytes: number, now: () => number = Date.now) => {
  const startedAt = now();
  let shownAt = startedAt;
  const text = (progress: Progress): string => progressText(progress, totalBytes, (now() - startedAt) / 1000);
  return {
    show(progress: Progress): void {
      if (now() - shownAt < (terminal.canRedraw ? REDRAW_MS : LINE_MS)) return;
      shownAt = now();
      const line = text(progress).slice(0, terminal.columns - 1);
      terminal.error(terminal.canRedraw ? `\r\u001b[2K${line}` : `${line}\n`);
    },
    /** Shows the final state. In a log it writes nothing if no line was written before. */
    end(progress: Progress): void {
      if (!terminal.canRedraw && shownAt === startedAt) return;
      terminal.error(terminal.canRedraw ? `\r\u001b[2K${text(progress)}\n` : `${text(progress)}\n`);
    },
  };
};
