import { startupReason } from '#local/run.ts';
import { StartupError } from '#local/startup-error.ts';

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
const FULL = 'The disk of /data is full (ENOSPC): free some space, or choose another folder with --data.';

describe('startupReason', () => {
  it('names a full disk', () => {
    expect(startupReason(full, '/data')).toBe(FULL);
  });

  it('names a full disk that only the database has met', () => {
    const error = new StartupError('The embedded database did not start: database or disk is full.');
    expect(startupReason(error, '/data')).toBe(FULL);
  });

  it('returns the first error if a part fails to end because of it', () => {
    const suppressed = new SuppressedError(
      new Error('second'),
      new SuppressedError(new Error('first'), full),
    );
    expect(startupReason(suppressed, '/data')).toBe(FULL);
  });

  it('returns the sentence of a StartupError, and the stack of an unexpected error', () => {
    expect(startupReason(new StartupError('Port 3000 is taken.'), '/data')).toBe('Port 3000 is taken.');
    expect(startupReason(new TypeError('x is undefined'), '/data')).toMatch(
      /^TypeError: x is undefined\n {4}at /,
    );
  });
});
