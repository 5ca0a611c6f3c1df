import { setImmediate as nextTurn } from 'node:timers/promises';

/** In these turns of the event loop a function makes every call that it can make without another response. */
const TURNS = 10;

/**
 * Holds each call back until the function can do nothing without a response, and then makes all held calls. So a round is what runs side by
 * side, and the number of rounds is the number of round trips one after the other, however fast the machine is.
 */
export const callRounds = () => {
  const rounds: string[][] = [];
  let held: { readonly name: string; readonly release: () => void }[] = [];
  let inFlight = 0;
  let isWaiting = false;

  const releaseHeld = async (): Promise<void> => {
    if (isWaiting || inFlight > 0 || held.length === 0) return;
    isWaiting = true;
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
    isWaiting = false;
    const round = held;
    held = [];
    inFlight = round.length;
    rounds.push(round.map(({ name }) => name).sort());
    for (const { release } of round) release();
  };

  return {
    /** The names of the calls of each round so far, sorted: `[['BatchGet', 'Update'], ['Get']]`. */
    rounds: rounds as readonly (readonly string[])[],
    /** Makes a call in its round. `name` is that of its command: `GetCommand`. */
    async make<T>(name: string, send: () => Promise<T>): Promise<T> {
      await new Promise<void>((resolve) => {
        held.push({ name: name.replace('Command', ''), release: resolve });
        void releaseHeld();
      });
      try {
        return await send();
      } finally {
        inFlight -= 1;
        void releaseHeld();
      }
    },
  };
};
