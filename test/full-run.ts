/** Whether the full hardening run started the tests. It takes every case; `npm test` takes some of each kind. */
export const isFullRun = process.env.FULL_RUN === '1';

/** Returns how many random runs of a model to make: 40 % of those of the full run. A failure prints its seed. */
export const runsOf = (all: number): number => (isFullRun ? all : Math.ceil(all * 0.4));
