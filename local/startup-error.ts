/** The reason why the service cannot start, in one sentence. The terminal shows it without a stack. */
export class StartupError extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = 'StartupError';
  }
}
