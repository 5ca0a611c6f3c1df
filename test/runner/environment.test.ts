import ProcessEnvironment from './environment.ts';

/** What the globals hold of a run of jest-circus. */
const ofCircus = () =>
  Object.getOwnPropertySymbols(globalThis).filter(({ description = '' }) =>
    /EVENT_HANDLERS|JEST_STATE/.test(description),
  );

describe('the environment of a test file', () => {
  it('has the handlers and the state of this file, and of no file before it', () => {
    expect(ofCircus().map(({ description }) => description)).toEqual(['EVENT_HANDLERS', 'JEST_STATE_SYMBOL']);
  });

  it('removes those of the file before', () => {
    const globals = globalThis as unknown as Record<symbol, unknown>;
    const own = ofCircus().map((symbol) => [symbol, globals[symbol]] as const);
    void new ProcessEnvironment().setup();
    const left = ofCircus();
    // This file needs them.
    for (const [symbol, value] of own) globals[symbol] = value;
    expect(left).toEqual([]);
  });
});
