import { progressBar, progressText } from '#admin/cli/import/progress-bar.ts';
import { recordingTerminal } from '../recording-terminal.ts';

const recorder = (canRedraw: boolean) => {
  const written: string[] = [];
  const { terminal } = recordingTerminal({
    error: (text) => void written.push(text),
    isInteractive: canRedraw,
    canRedraw,
    columns: 100,
  });
  return { terminal, written };
};

describe('progressBar', () => {
  it('shows the share, the lines, the rate and the time left', () => {
    expect(progressText(50_000, 100_000, 4)).toBe(
      '[############............] 50 %  50,000 lines  12,500/s  4 s left',
    );
    expect(progressText(100, 1000, 60)).toContain('9 min left');
    expect(progressText(1, 1000, 60)).toContain('16 h 39 min left');
    expect(progressText(0, 1000, 0)).toBe('[........................] 0 %  0 lines  0/s');
    expect(progressText(0, 0, 1)).toContain('100 %');
  });

  it('overwrites its line on a terminal, and ends it', () => {
    let now = 0;
    const { terminal, written } = recorder(true);
    const bar = progressBar(terminal, 100, () => now);
    now = 100;
    bar.show(10);
    now = 250;
    bar.show(20);
    bar.end(100);
    expect(written).toHaveLength(2);
    expect(written[0]).toMatch(/^\r.*\[####\.+\] 20 %/);
    expect(written[1]).toMatch(/100 %.*\n$/);
  });

  it('writes a line every 5 seconds where lines cannot be overwritten, and none for a shorter import', () => {
    let now = 0;
    const { terminal, written } = recorder(false);
    const bar = progressBar(terminal, 100, () => now);
    bar.end(100);
    expect(written).toEqual([]);
    now = 6000;
    bar.show(50);
    now = 7000;
    bar.show(60);
    bar.end(100);
    expect(written).toHaveLength(2);
    expect(written.join('')).not.toContain('\r');
  });
});
