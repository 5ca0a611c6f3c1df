/** Where secrets are kept. One file a store beside this. */
export interface SecretSource {
  /** The secret as text, from memory if it was read before; `fresh` reads it again. Throws if it is not there. */
  read(options?: { readonly fresh?: boolean }): Promise<string>;
}
