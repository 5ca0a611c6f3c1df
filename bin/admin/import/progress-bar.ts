import type { Terminal } from '../terminal.ts';

/** How far something came, of how much: bytes for the bar, lines for people. */
export interface Standing {
  readonly bytes: number;
  readonly lines: number;
}

const BAR_WIDTH = 24;
const REDRAW_MS = 200;
/** Where nothing can be overwritten, in a log say, a line now and then. */
const LINE_MS = 5000;

const timeLeft = (seconds: number): string => {
  if (!Number.isFinite(seconds)) return '';
  if (seconds < 60) return `${Math.ceil(seconds)} s left`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min left` : `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
};

/** `[######..] 61 %  61,000 lines  13,200/s  3 s left`. The rate is that of this run: an earlier run's part counts for the bar alone. */
export const progressText = (begin: Standing, now: Standing, totalBytes: number, seconds: number): string => {
  const share = totalBytes === 0 ? 1 : Math.min(1, now.bytes / totalBytes);
  const filled = Math.floor(share * BAR_WIDTH);
  const rate = seconds > 0 ? (now.lines - begin.lines) / seconds : 0;
  const bytesASecond = (now.bytes - begin.bytes) / seconds;
  return [
    `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)} %`,
    `${now.lines.toLocaleString('en')} lines`,
    `${Math.round(rate).toLocaleString('en')}/s`,
    timeLeft((totalBytes - now.bytes) / bytesASecond),
  ]
    .filter((part) => part !== '')
    .join('  ');
};

/** Shows progress on stderr. `now`: milliseconds. */
export const progressBar = (
  terminal: Terminal,
  begin: Standing,
  totalBytes: number,
  now: () => number = Date.now,
) => {
  const startedAt = now();
  let shownAt = startedAt;
  const text = (standing: Standing): string =>
    progressText(begin, standing, totalBytes, (now() - startedAt) / 1000);
  return {
    show(standing: Standing): void {
      if (now() - shownAt < (terminal.canRedraw ? REDRAW_MS : LINE_MS)) return;
      shownAt = now();
      const line = text(standing).slice(0, terminal.columns - 1);
      terminal.error(terminal.canRedraw ? `\r\u001b[2K${line}` : `${line}\n`);
    },
    /** Leaves the last state standing. What was over before there was anything to show leaves nothing in a log. */
    end(standing: Standing): void {
      if (!terminal.canRedraw && shownAt === startedAt) return;
      terminal.error(terminal.canRedraw ? `\r\u001b[2K${text(standing)}\n` : `${text(standing)}\n`);
    },
  };
};
