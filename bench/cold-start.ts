import { type Run, startBenchProcesses } from './harness/processes.ts';
import { type Recording, ROOT, recordOperations } from './harness/recording.ts';
import { figure, interleave, median, option, ratio, report } from './harness/report.ts';
import { bundleBare, bundleDeployed, type Subject } from './harness/subjects.ts';

/**
 * `npm run bench:cold-start` compares the time from the start of a new process to its first response with that of a bare handler that
 * makes the same calls, for every operation. Options: `--rounds <n>`, `--only <part of an operation>`, `--baseline <folder of another
 * checkout>` adds a column with its functions, `--cpu-group <folder of a cgroup>` limits the CPU after the initialization, as Lambda does.
 */
const rounds = Number(option('rounds') ?? 11);
const only = option('only') ?? '';
const baseline = option('baseline');
const cpuGroup = option('cpu-group');

const recordingsOf = async (root: string): Promise<Recording[]> =>
  (await recordOperations(root)).filter(({ operation }) => operation.title.includes(only));

const processes = await startBenchProcesses();
try {
  const recordings = await recordingsOf(ROOT);
  const before = baseline === undefined ? [] : await recordingsOf(baseline);
  const operations = await Promise.all(
    recordings.map(async (recording, index) => {
      const own = await bundleDeployed(processes.folder, recording);
      const bare = await bundleBare(processes.folder, recording);
      const old = before[index] && (await bundleDeployed(processes.folder, before[index], baseline));
      return { own, bare, old, subjects: old ? [own, bare, old] : [own, bare] };
    }),
  );
  const subjects = operations.flatMap((operation) => operation.subjects);
  // One round more: the first one warms the disk cache and is not counted.
  const runs = await interleave(subjects, rounds + 1, (subject) => processes.run(subject, { cpuGroup }));
  const medianOf = (subject: Subject, figureOf: (run: Run) => number): number =>
    median((runs.get(subject) ?? []).slice(1).map(figureOf));
  report(
    'cold-start',
    `Medians of ${rounds} new processes each, interleaved, Node ${process.versions.node}, TLS.`,
    [
      [
        ...['operation', 'KB', 'loaded ms', 'response ms', 'connections', 'bare ms', '× bare', 'CPU × bare'],
        ...(baseline ? ['before ms', '× before'] : []),
      ],
      ...operations.map(({ own, bare, old }) => {
        const responded = medianOf(own, ({ respondedMs }) => respondedMs);
        const bareResponded = medianOf(bare, ({ respondedMs }) => respondedMs);
        const oldResponded = old && medianOf(old, ({ respondedMs }) => respondedMs);
        return [
          own.recording.operation.title,
          figure(own.bytes / 1000),
          figure(medianOf(own, ({ loadedMs }) => loadedMs)),
          figure(responded),
          figure(medianOf(own, ({ connections }) => connections)),
          figure(bareResponded),
          ratio(responded, bareResponded),
          ratio(
            medianOf(own, ({ cpuMs }) => cpuMs),
            medianOf(bare, ({ cpuMs }) => cpuMs),
          ),
          ...(oldResponded ? [figure(oldResponded), ratio(responded, oldResponded)] : []),
        ];
      }),
    ],
  );
} finally {
  await processes.stop();
}
