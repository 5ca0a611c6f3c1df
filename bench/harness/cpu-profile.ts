interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

/** A profile as `node --cpu-prof` writes it. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The id of the running node at each sample, and the microseconds before it. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Names that stand for no running code. */
const NOT_RUNNING: readonly string[] = ['(idle)', '(program)', '(root)'];

const placeOf = ({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string => {
  const file = url.startsWith('node:') ? url : url === '' ? 'native' : `bundle:${lineNumber + 1}`;
  return `${functionName === '' ? '(anonymous)' : functionName} (${file})`;
};

/** Returns the places of a profile by the time spent in them, without what they call; shares of the time that the CPU was in use. */
export const selfTimes = ({ nodes, samples, timeDeltas }: CpuProfile): { place: string; share: number }[] => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const node = byId.get(id);
    if (node === undefined || NOT_RUNNING.includes(node.callFrame.functionName)) continue;
    const place = placeOf(node);
    times.set(place, (times.get(place) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times]
    .map(([place, time]) => ({ place, share: time / total }))
    .sort((a, b) => b.share - a.share);
};
