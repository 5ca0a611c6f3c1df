import { mock } from 'node:test';
import './compile-cache.ts';

const { console } = globalThis;
const { exit } = process;
const { now } = performance;
const { timeout } = AbortSignal;

/**
 * What jest-circus keeps in the globals, which it expects to end with the file: its state, with every module of the file, and its handlers,
 * each of which would receive the events of all later files.
 */
const KEPT_BY_CIRCUS = ['EVENT_HANDLERS', 'JEST_STATE_SYMBOL'];

/** The process itself: with no second realm, an error of a package is an `Error` of the tests. Each test file leaves it as it was. */
export default class ProcessEnvironment {
  readonly global = globalThis;
  readonly #env = { ...process.env };

  async setup() {
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (KEPT_BY_CIRCUS.includes(symbol.description ?? '')) Reflect.deleteProperty(globalThis, symbol);
    }
  }

  async teardown() {
    mock.reset();
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
    process.exit = exit;
    performance.now = now;
    AbortSignal.timeout = timeout;
    globalThis.console = console;
  }

  getVmContext() {
    return null;
  }
}
