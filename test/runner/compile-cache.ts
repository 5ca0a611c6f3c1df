import { fileURLToPath } from 'node:url';

// The programs that tests start share compiled code: each starts in half the time. This process has read the variable already; it would
// write the code of every test file at its end.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../../node_modules/.cache/node-compile-cache', import.meta.url),
);
