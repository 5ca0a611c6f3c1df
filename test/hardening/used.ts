/** Every secret and personal value that a run used, to search for them where they must not be. */
export interface Used {
  readonly nationalIds: Set<string>;
  readonly phones: Set<string>;
  readonly codes: Set<string>;
  readonly tokens: Set<string>;
  readonly keys: Set<string>;
}

export const nothingUsed = (): Used => ({
  nationalIds: new Set(),
  phones: new Set(),
  codes: new Set(),
  tokens: new Set(),
  keys: new Set(),
});
