import type { FunctionConfiguration } from '@aws-sdk/client-lambda';
import type { DeployedFunction, DeployedStage } from './deployed.ts';

/** Versions of a function that stay when old ones are removed. */
const KEPT_VERSIONS = 5;

/** An alias that moves to another version. */
export interface Move {
  readonly of: DeployedFunction;
  readonly to: number;
}

const numbersOf = ({ versions }: DeployedFunction): number[] => [...versions.keys()].sort((a, b) => a - b);

const isChangedBy = (deployedAt: Date, { versions, deployed }: DeployedFunction): boolean =>
  new Date(versions.get(deployed)?.LastModified ?? 0) >= deployedAt;

/**
 * Returns the moves that take back the last deploy: of the functions that it changed, each to the version before. A function that
 * was moved already, one that the deploy did not change and one without an earlier version stay.
 */
export const movesBack = ({ functions, deployedAt }: DeployedStage): readonly Move[] =>
  functions
    .filter((each) => each.serving === each.deployed && isChangedBy(deployedAt, each))
    .flatMap((each) => {
      const to = numbersOf(each).findLast((version) => version < each.serving);
      return to === undefined ? [] : [{ of: each, to }];
    });

/** Returns the moves to the versions of the stack. */
export const movesForward = ({ functions }: DeployedStage): readonly Move[] =>
  functions
    .filter(({ serving, deployed }) => serving !== deployed)
    .map((each) => ({ of: each, to: each.deployed }));

/** Returns the versions that may be removed: all but the last five of a function, the one in service and that of the stack. */
export const oldVersions = (each: DeployedFunction): readonly number[] =>
  numbersOf(each)
    .slice(0, -KEPT_VERSIONS)
    .filter((version) => version !== each.serving && version !== each.deployed);

const settingsOf = (version: FunctionConfiguration | undefined): Record<string, string> => ({
  ...version?.Environment?.Variables,
  'memory (MB)': String(version?.MemorySize),
  'timeout (s)': String(version?.Timeout),
});

/** Returns each setting that moves change, once, as `PAID_CHECKS_PER_DAY: 5000 -> 1000`. No variable of a function holds a secret. */
export const changedSettings = (moves: readonly Move[]): readonly string[] => {
  const lines = moves.flatMap(({ of: { versions, serving }, to }) => {
    const [before, after] = [settingsOf(versions.get(serving)), settingsOf(versions.get(to))];
    return [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((name) => before[name] !== after[name])
      .map((name) => `${name}: ${before[name] ?? 'not set'} -> ${after[name] ?? 'not set'}`);
  });
  return [...new Set(lines)].sort();
};
