/** The port to a secret. Each store has one file beside this. */
export interface SecretSource {
  /** Returns the secret as text, cached for a while. Throws if there is no value. */
  read(): Promise<string>;
}
