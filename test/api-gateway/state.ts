/** A key as API Gateway holds it. Times are epoch seconds, as in its responses. */
export interface StoredKey {
  readonly id: string;
  readonly value: string;
  readonly name: string;
  readonly description?: string;
  readonly enabled: boolean;
  readonly createdDate: number;
  readonly lastUpdatedDate: number;
}

/** The state of the simulated API Gateway. */
export interface SimulatorState {
  readonly keys: Map<string, StoredKey>;
  readonly keyIdByValue: Map<string, string>;
  /** Key id -> id of its usage plan: a key is in at most one plan of the stage. */
  readonly planOfKey: Map<string, string>;
  /** Key id -> day (UTC) -> requests. */
  readonly usage: Map<string, Map<string, number>>;
}

export const emptyState = (): SimulatorState => ({
  keys: new Map(),
  keyIdByValue: new Map(),
  planOfKey: new Map(),
  usage: new Map(),
});
