/** The reason why the service cannot start, in one sentence. The terminal shows it without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
