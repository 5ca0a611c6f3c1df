interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** A profile as `node --cpu-prof` writes it. */
export interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  /** The id of the running node at each sample, and the microseconds before it. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Returns the source file of a position in the bundle, both from 0 on. */
export type Locate = (line: number, column: number) => string | undefined;

/** Names that stand for no running code. */
const NOT_RUNNING: readonly string[] = ['(idle)', '(program)', '(root)'];

/** The part that code belongs to: a module of Node, an npm package, or this project. */
const partOf = ({ functionName, url, lineNumber, columnNumber }: CallFrame, locate: Locate): string => {
  if (url === '') return `native ${functionName}`;
  if (url.startsWith('node:'))
    return `node:${
      url
        .slice(5)
        .replace(/^internal\//, '')
        .split('/')[0]
    }`;
  const source = locate(lineNumber, columnNumber) ?? 'the program of the benchmark';
  const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source) ?? [];
  return name ?? (/(?:shared|functions)\//.test(source) ? 'this project' : source);
};

/** Returns the parts of the program by their shares of the CPU time, without the time of what they call. */
export const shareOfParts = (
  { nodes, samples, timeDeltas }: CpuProfile,
  locate: Locate,
): { part: string; share: number }[] => {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined || NOT_RUNNING.includes(frame.functionName)) continue;
    const part = partOf(frame, locate);
    times.set(part, (times.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times].map(([part, time]) => ({ part, share: time / total })).sort((a, b) => b.share - a.share);
};
