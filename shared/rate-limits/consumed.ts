/** Something that was counted against a limit. */
export interface Consumed {
  /** Refunds it; a second call refunds nothing. */
  refund(): Promise<void>;
}

/** Returns a count that `refund` takes back; without it, nothing was counted. */
export const consumed = (refund?: () => Promise<unknown>): Consumed => {
  let open = refund;
  return {
    async refund() {
      const refundOnce = open;
      open = undefined;
      await refundOnce?.();
    },
  };
};

/** Counts one after the other. If one of them throws, those before are refunded. */
export const consumeAll = async (...counts: readonly (() => Promise<Consumed>)[]): Promise<Consumed> => {
  const all: Consumed[] = [];
  const refund = async (): Promise<void> => {
    await Promise.all(all.map((one) => one.refund()));
  };
  try {
    for (const count of counts) all.push(await count());
  } catch (error) {
    await refund();
    throw error;
  }
  return { refund };
};
