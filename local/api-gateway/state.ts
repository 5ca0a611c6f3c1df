import * as v from 'valibot';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { readIfThere, writePrivateFile } from '../private-file.ts';
import { damagedFile } from '../startup-error.ts';

const storedKeySchema = v.object({
  id: v.string(),
  name: v.string(),
  /** The usage id. */
  value: v.string(),
  enabled: v.boolean(),
  /** When the key was created or changed, in epoch seconds. */
  changed_at: v.optional(v.number(), 0),
  /** The usage plan of the key: at most one of the stage. */
  plan: v.optional(v.picklist(PLAN_NAMES)),
});

/** A key as the simulated API Gateway keeps it. */
export type StoredKey = v.InferOutput<typeof storedKeySchema>;

const fileSchema = v.object({
  keys: v.array(storedKeySchema),
  /** Key id -> day (UTC) -> requests. */
  usage: v.record(v.string(), v.record(v.string(), v.number())),
});

/** The state of the simulated API Gateway. */
export interface State {
  /** By key id. */
  readonly keys: Map<string, StoredKey>;
  /** Key id -> day (UTC) -> requests. */
  readonly usage: Map<string, Record<string, number>>;
  /** Writes the state to its file. Resolves when the file has every change made before the call. */
  save(): Promise<void>;
}

/** Reads the state from a file, or begins empty. `file` undefined: in memory. Throws a StartupError if the file is damaged. */
export const openState = async (file: string | undefined): Promise<State> => {
  const stored = file === undefined ? { keys: [], usage: {} } : await readState(file);
  const keys = new Map(stored.keys.map((key) => [key.id, key]));
  const usage = new Map(Object.entries(stored.usage));
  const text = (): string =>
    JSON.stringify({ keys: [...keys.values()], usage: Object.fromEntries(usage) } satisfies StoredState);
  let lastWrite = Promise.resolve();
  return {
    keys,
    usage,
    async save() {
      if (file === undefined) return;
      // One write after another.
      lastWrite = lastWrite.catch(() => {}).then(() => writePrivateFile(file, text()));
      await lastWrite;
    },
  };
};

type StoredState = v.InferOutput<typeof fileSchema>;

const readState = async (file: string): Promise<StoredState> => {
  const text = await readIfThere(file);
  if (text === undefined) return { keys: [], usage: {} };
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), fileSchema), text);
  if (!parsed.success) throw damagedFile(file, 'it does not hold usage plans');
  return parsed.output;
};
