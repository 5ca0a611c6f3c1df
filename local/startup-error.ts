/** Why the service cannot start, in one sentence for the person at the terminal: shown without a stack. */
export class StartupError extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = 'StartupError';
  }
}
