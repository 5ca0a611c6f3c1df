import {
  afterSend,
  CODE_LIMITS,
  type CodeRecord,
  FIRST_LOCK_AT,
  type SendLimit,
  whyNotSent,
  whyNotTried,
} from '#shared/one-time-codes/rules.ts';

const NO_FAILURES = { failures: 0, lastFailureAt: 0, lockAt: FIRST_LOCK_AT };

/** The record of a phone without sends and failures. */
export const NEW_RECORD: CodeRecord = { sends: [], lastBouncedAt: 0, ...NO_FAILURES };

/** The record of one phone and one seller in memory: what the store does, by the pure rules. */
interface ModelPhone {
  readonly record: CodeRecord;
  /** Sends a code if the rules allow it. Returns the record of before, for an undo; undefined if they refuse it. */
  send(mac: string, now: number): CodeRecord | undefined;
  /** Undoes the send of `mac`. `restored`: its code, if any, with its lock, the sends and the cool-down of after the undo. */
  undo(restored: CodeRecord, mac: string): void;
  /** Counts a try if the rules allow it. Returns whether it was counted. */
  countTry(now: number): boolean;
  /** Uses the code up. Returns whether it was the outstanding one. */
  redeem(mac: string): boolean;
  /** Sets the failures to 0 and keeps the code, if it is the outstanding one. */
  clearFailures(mac: string): void;
}

const withoutCode = ({ code: _code, ...rest }: CodeRecord): CodeRecord => rest;

export const modelPhone = (limits: readonly SendLimit[] = CODE_LIMITS.sendLimits): ModelPhone => {
  let record: CodeRecord = NEW_RECORD;
  return {
    get record() {
      return record;
    },
    send(mac, now) {
      if (whyNotSent(record, limits, now) !== undefined) return undefined;
      const before = record;
      record = afterSend(record, { mac, provider: 'first' }, now);
      return before;
    },
    undo({ sends, lastBouncedAt, lockAt, code }, mac) {
      if (record.code?.mac !== mac) return;
      record = { ...withoutCode(record), sends, lastBouncedAt, ...(code !== undefined && { code, lockAt }) };
    },
    countTry(now) {
      const { code } = record;
      if (code === undefined || whyNotTried(record, now) !== undefined) return false;
      record = {
        ...record,
        failures: record.failures + 1,
        lastFailureAt: now,
        code: { ...code, tries: code.tries + 1 },
      };
      return true;
    },
    redeem(mac) {
      if (record.code?.mac !== mac) return false;
      record = { ...withoutCode(record), ...NO_FAILURES };
      return true;
    },
    clearFailures(mac) {
      if (record.code?.mac === mac) record = { ...record, ...NO_FAILURES };
    },
  };
};
