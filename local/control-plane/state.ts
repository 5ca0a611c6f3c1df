import * as v from 'valibot';
import { readIfThere, writePrivateFile } from '../private-file.ts';

/** A key as the gateway holds it. Times are epoch seconds, as on the wire. */
const keySchema = v.object({
  id: v.string(),
  value: v.string(),
  name: v.string(),
  description: v.optional(v.string()),
  enabled: v.boolean(),
  createdDate: v.number(),
  lastUpdatedDate: v.number(),
});

export type StoredKey = v.InferOutput<typeof keySchema>;

const stateSchema = v.object({
  keys: v.array(keySchema),
  /** Plan id -> ids of its keys. */
  members: v.record(v.string(), v.array(v.string())),
  /** Key id -> day (UTC) -> requests. */
  usage: v.record(v.string(), v.record(v.string(), v.number())),
});

type SavedState = v.InferOutput<typeof stateSchema>;

/** What the local control plane remembers, indexed the ways it is asked for. */
export interface ControlPlaneState {
  readonly keys: Map<string, StoredKey>;
  readonly keyIdByValue: Map<string, string>;
  /** Key id -> the plan it is in: one stage, so one plan a key. */
  readonly planOfKey: Map<string, string>;
  readonly usage: Map<string, Map<string, number>>;
  /** Writes everything to the file, whole or not at all; resolves when it is there. Without a file it does nothing. */
  save(): Promise<void>;
}

const EMPTY: SavedState = { keys: [], members: {}, usage: {} };

const readState = async (file: string): Promise<SavedState> => {
  const text = await readIfThere(file);
  if (text === undefined) return EMPTY;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), stateSchema), text);
  if (parsed.success) return parsed.output;
  throw new Error(`${file} is not readable as the state of the local control plane`);
};

/** Reads the state from its file, or begins with an empty one. `file` undefined: it lives in memory alone. */
export const openState = async (file: string | undefined): Promise<ControlPlaneState> => {
  const saved = file === undefined ? EMPTY : await readState(file);
  const keys = new Map(saved.keys.map((key) => [key.id, key]));
  const planOfKey = new Map(
    Object.entries(saved.members).flatMap(([plan, ids]) => ids.map((id): [string, string] => [id, plan])),
  );
  const usage = new Map(
    Object.entries(saved.usage).map(([id, days]): [string, Map<string, number>] => [
      id,
      new Map(Object.entries(days)),
    ]),
  );

  const snapshot = (): SavedState => ({
    keys: [...keys.values()],
    members: Object.fromEntries(
      [...new Set(planOfKey.values())].map((plan) => [
        plan,
        [...planOfKey].filter(([, its]) => its === plan).map(([id]) => id),
      ]),
    ),
    usage: Object.fromEntries([...usage].map(([id, days]) => [id, Object.fromEntries(days)])),
  });

  // One write after another: two at once could leave the older one behind.
  let writing: Promise<void> = Promise.resolve();
  return {
    keys,
    keyIdByValue: new Map(saved.keys.map((key) => [key.value, key.id])),
    planOfKey,
    usage,
    save() {
      if (file === undefined) return Promise.resolve();
      writing = writing.catch(() => {}).then(() => writePrivateFile(file, JSON.stringify(snapshot())));
      return writing;
    },
  };
};
