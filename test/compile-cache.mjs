import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Lets the processes that tests start share compiled code: each starts in half the time. */
export default () => {
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'buyer-linking-compile-cache');
};
