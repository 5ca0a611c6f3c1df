/** Loads a value once, at the first call. Calls at the same time share one load; a rejected load is not cached. */
export const cachedPromise = <Value>(load: () => Promise<Value>): (() => Promise<Value>) => {
  let cached: Promise<Value> | undefined;
  return () => {
    if (cached !== undefined) return cached;
    const loading = load();
    cached = loading;
    loading.catch(() => {
      if (cached === loading) cached = undefined;
    });
    return loading;
  };
};
