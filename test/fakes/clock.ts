import type { Clock } from '#shared/clock.ts';

/** A clock that a test moves by hand. */
export const fakeClock = (
  startIso: string,
): Clock & { advance(seconds: number): void; set(iso: string): void } => {
  let nowMs = Date.parse(startIso);
  return Object.assign(() => nowMs, {
    advance: (seconds: number) => {
      nowMs += seconds * 1000;
    },
    set: (iso: string) => {
      nowMs = Date.parse(iso);
    },
  });
};
