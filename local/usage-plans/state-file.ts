import * as v from 'valibot';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { readIfThere, writePrivateFile } from '../private-file.ts';

const keySchema = v.object({
  id: v.string(),
  name: v.string(),
  /** The usage id. */
  value: v.string(),
  enabled: v.boolean(),
  plan: v.optional(v.picklist(PLAN_NAMES)),
});

/** A key of the local gateway, with the usage plan that it is in. */
export type StoredKey = v.InferOutput<typeof keySchema>;

const stateSchema = v.object({
  keys: v.array(keySchema),
  /** Key id -> day (UTC) -> requests. */
  usage: v.record(v.string(), v.record(v.string(), v.number())),
});

/** The content of the file. */
export interface State {
  readonly keys: Map<string, StoredKey>;
  readonly usage: Map<string, Map<string, number>>;
}

/** Reads the state; an empty one if there is no file. Throws if the file is damaged. */
export const readState = async (file: string | undefined): Promise<State> => {
  const text = file === undefined ? undefined : await readIfThere(file);
  if (text === undefined) return { keys: new Map(), usage: new Map() };
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), stateSchema), text);
  if (!parsed.success) throw new Error(`${file} does not hold the usage plans of the local service`);
  const { keys, usage } = parsed.output;
  return {
    keys: new Map(keys.map((key) => [key.id, key])),
    usage: new Map(Object.entries(usage).map(([id, days]) => [id, new Map(Object.entries(days))])),
  };
};

/** Returns a function that writes the state: whole or not at all, one write after another. Without a file it does nothing. */
export const stateWriter = (file: string | undefined, { keys, usage }: State): (() => Promise<void>) => {
  if (file === undefined) return () => Promise.resolve();
  const snapshot = (): v.InferOutput<typeof stateSchema> => ({
    keys: [...keys.values()],
    usage: Object.fromEntries([...usage].map(([id, days]) => [id, Object.fromEntries(days)])),
  });
  let lastWrite: Promise<void> = Promise.resolve();
  return () => {
    lastWrite = lastWrite.catch(() => {}).then(() => writePrivateFile(file, JSON.stringify(snapshot())));
    return lastWrite;
  };
};
