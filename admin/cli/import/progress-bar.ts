import type { Terminal } from '../terminal.ts';
import { durationText } from '../times.ts';

const BAR_WIDTH = 24;
const REDRAW_MS = 200;
/** The interval between lines where a line cannot be overwritten, such as in a log. */
const LINE_MS = 5000;

const timeLeft = (seconds: number): string => {
  if (!Number.isFinite(seconds)) return '';
  return `${durationText(seconds)} left`;
};

/** Formats `[######..] 61 %  61,000 lines  13,200/s  3 s left`. `lines`: those that are done; `seconds`: since the start. */
export const progressText = (lines: number, totalLines: number, seconds: number): string => {
  const share = totalLines === 0 ? 1 : lines / totalLines;
  const filled = Math.floor(share * BAR_WIDTH);
  const rate = seconds > 0 ? lines / seconds : 0;
  return [
    `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)} %`,
    `${lines.toLocaleString('en')} lines`,
    `${Math.round(rate).toLocaleString('en')}/s`,
    timeLeft(((totalLines - lines) * seconds) / lines),
  ]
    .filter((part) => part !== '')
    .join('  ');
};

/** Shows progress on stderr: one line that is overwritten, or a line every 5 seconds. `now` returns milliseconds. */
export const progressBar = (terminal: Terminal, totalLines: number, now: () => number = Date.now) => {
  const startedAt = now();
  let shownAt = startedAt;
  const text = (lines: number): string => progressText(lines, totalLines, (now() - startedAt) / 1000);
  return {
    show(lines: number): void {
      if (now() - shownAt < (terminal.canRedraw ? REDRAW_MS : LINE_MS)) return;
      shownAt = now();
      const line = text(lines).slice(0, terminal.columns - 1);
      terminal.error(terminal.canRedraw ? `\r\u001b[2K${line}` : `${line}\n`);
    },
    /** Shows the final state. In a log it writes nothing if no line was written before. */
    end(lines: number): void {
      if (!terminal.canRedraw && shownAt === startedAt) return;
      terminal.error(terminal.canRedraw ? `\r\u001b[2K${text(lines)}\n` : `${text(lines)}\n`);
    },
  };
};
