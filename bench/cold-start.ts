import { type Subject, startBenchProcesses } from './harness/processes.ts';
import { recordOperations } from './harness/recording.ts';
import { interleave, median, option, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:cold-start` compares the time from the start of a new process to its first response with that of a bare handler that
 * makes the same calls, for every operation. Options: `--rounds <n>`, `--only <part of an operation>`, `--baseline <folder of another
 * checkout>` adds a column with its functions, `--cpu-group <folder of a cgroup>` limits the CPU after the initialization, as Lambda does.
 */

interface Timed extends Subject {
  readonly loaded: number[];
  readonly responded: number[];
  readonly cpu: number[];
  connections: number;
}

const rounds = option('rounds', 11);
const only = option('only', '');
const baseline = option('baseline', undefined);
const cpuGroup = option('cpu-group', undefined);

const isWanted = ({ operation }: { readonly operation: { readonly title: string } }) =>
  operation.title.includes(only);
const timed = (subject: Subject): Timed => ({
  ...subject,
  loaded: [],
  responded: [],
  cpu: [],
  connections: 0,
});

const processes = await startBenchProcesses();
try {
  const recordings = (await recordOperations()).filter(isWanted);
  const ours = (await processes.deployed(recordings)).map(timed);
  const bare = (await processes.bare(recordings)).map(timed);
  const before =
    baseline === undefined
      ? []
      : (await processes.deployed((await recordOperations(baseline)).filter(isWanted), baseline)).map(timed);
  // One round more: the first one warms the disk cache and is not counted.
  await interleave([...Array(rounds + 1).keys()], 1, async (round) => {
    for (const subject of ours.flatMap((own, index) => [own, bare[index], before[index]])) {
      if (subject === undefined) continue;
      const { cold } = await processes.run(subject, { cpuGroup });
      if (round === 0) continue;
      subject.loaded.push(cold.loadedMs);
      subject.responded.push(cold.respondedMs);
      subject.cpu.push(cold.cpuMs);
      subject.connections = cold.connections;
    }
  });
  const ms = (values: readonly number[] = []) => median(values).toFixed(0);
  report(
    'cold-start',
    `Medians of ${rounds} new processes each, interleaved, Node ${process.versions.node}, TLS.`,
    [
      [
        'operation',
        'KB',
        'loaded ms',
        'response ms',
        'connections',
        'bare ms',
        '× bare',
        'CPU × bare',
        ...(baseline ? ['before ms', '× before'] : []),
      ],
      ...ours.map((own, index) => {
        const [plain, old] = [bare[index] as Timed, before[index]];
        return [
          own.recording.operation.title,
          (own.bytes / 1000).toFixed(0),
          ms(own.loaded),
          ms(own.responded),
          String(own.connections),
          ms(plain.responded),
          ratio(median(own.responded), median(plain.responded)),
          ratio(median(own.cpu), median(plain.cpu)),
          ...(old ? [ms(old.responded), ratio(median(own.responded), median(old.responded))] : []),
        ];
      }),
    ],
  );
} finally {
  await processes.stop();
}
