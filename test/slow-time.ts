/**
 * Slows the monotonic clock and the timeouts of the test file that imports it, as if its machine were ten times as fast: on a busy machine no
 * deadline of a request, and no wait for other changes of a seller, may end what a test awaits. test/runner/environment.ts restores both.
 */
const FACTOR = 10;

const { now } = performance;
const { timeout } = AbortSignal;

beforeAll(() => {
  performance.now = () => now.call(performance) / FACTOR;
  AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms * FACTOR);
});
