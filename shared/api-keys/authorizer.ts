import type { FunctionRow, KeyCheck } from '#shared/route.ts';

/** The row of the function that decides on keys. It stands apart from the routes, since no caller requests it. */
export const authorizer = {
  name: 'authorizer',
  summary: 'Authorizes API keys',
  check: { unknownKey: { throws: 'Unauthorized', outcome: 'unknown' } },
  permissions: { table: { 'SECRET#': ['GetItem'] }, keyPrefix: true },
  memoryMb: 1024,
  timeoutSeconds: 5,
  // A database that hangs must not keep a caller waiting.
  deadlineSeconds: 3,
} as const satisfies FunctionRow<KeyCheck>;
