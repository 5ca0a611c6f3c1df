import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shareOfParts } from './harness/cpu-profile.ts';
import { type Subject, startBenchProcesses, type Warm } from './harness/processes.ts';
import { recordOperations } from './harness/recording.ts';
import { interleave, median, option, quantile, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:warm` compares the CPU time and the response times of a running function with those of a bare handler that makes the
 * same calls, and prints where GET /v1/users uses more CPU time than its bare handler. Options: `--rounds <n>`, `--requests <n>`,
 * `--only <part of an operation>`.
 */
const rounds = option('rounds', 3);
const warmRequests = option('requests', 400);
const only = option('only', '');
const PROFILED = 'GET /v1/users';
const TOP = 8;

interface Timed extends Subject {
  readonly cpuMs: number[];
  readonly timesMs: number[];
}

const timed = (subject: Subject): Timed => ({ ...subject, cpuMs: [], timesMs: [] });

const processes = await startBenchProcesses();

/** Returns the milliseconds of CPU time per request of each part of a subject's program. */
const profile = async (subject: Subject): Promise<ReadonlyMap<string, number>> => {
  const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-profile-'));
  try {
    const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
    const { warm } = await processes.run(subject, { warmRequests: 2 * warmRequests, nodeOptions });
    const [file = ''] = await readdir(folder);
    const map = new SourceMap(JSON.parse(await readFile(subject.mapFile, 'utf8')));
    const locate = (line: number, column: number) => {
      const entry = map.findEntry(line, column);
      return 'originalSource' in entry ? entry.originalSource : undefined;
    };
    const parts = shareOfParts(JSON.parse(await readFile(join(folder, file), 'utf8')), locate);
    return new Map(parts.map(({ part, share }) => [part, share * (warm?.cpuMs ?? 0)]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Compares the parts of a function and of its bare handler: those that differ most come first. */
const comparedParts = async (own: Subject, plain: Subject): Promise<string[][]> => {
  const [ours, bares] = [await profile(own), await profile(plain)];
  const rows = [...new Set([...ours.keys(), ...bares.keys()])].map((part) => {
    const [mine, bare] = [ours.get(part) ?? 0, bares.get(part) ?? 0];
    return { part, mine, bare, more: mine - bare };
  });
  return rows
    .sort((a, b) => b.more - a.more)
    .slice(0, TOP)
    .map(({ part, mine, bare, more }) => [part, mine.toFixed(2), bare.toFixed(2), more.toFixed(2)]);
};

try {
  const recordings = (await recordOperations()).filter(
    ({ operation, later }) => later.calls.length > 0 && operation.title.includes(only),
  );
  const ours = (await processes.deployed(recordings)).map(timed);
  const bare = (await processes.bare(recordings)).map(timed);
  const pairs = ours.flatMap((own, index) => [own, bare[index] as Timed]);
  await interleave(pairs, rounds, async (subject) => {
    const { warm } = (await processes.run(subject, { warmRequests })) as { warm: Warm };
    subject.cpuMs.push(warm.cpuMs);
    subject.timesMs.push(...warm.timesMs);
  });
  const ms = (value: number) => value.toFixed(2);
  const index = ours.findIndex(({ recording }) => recording.operation.title === PROFILED);
  report(
    'warm',
    `Medians of ${rounds} processes each, interleaved, ${warmRequests} requests per process, milliseconds per request.`,
    [
      ['operation', 'CPU', 'bare CPU', '× bare', 'p50', 'p50 × bare', 'p99', 'p99 × bare'],
      ...ours.map((own, index) => {
        const plain = bare[index] as Timed;
        const cell = (share: number) => {
          const [a, b] = [quantile(own.timesMs, share), quantile(plain.timesMs, share)];
          return [ms(a), ratio(a, b)];
        };
        const [cpu, bareCpu] = [median(own.cpuMs), median(plain.cpuMs)];
        return [
          own.recording.operation.title,
          ms(cpu),
          ms(bareCpu),
          ratio(cpu, bareCpu),
          ...cell(0.5),
          ...cell(0.99),
        ];
      }),
    ],
    ...(index < 0
      ? []
      : [
          [
            [`${PROFILED}, CPU ms by part`, 'ours', 'bare', 'more'],
            ...(await comparedParts(ours[index] as Subject, bare[index] as Subject)),
          ],
        ]),
  );
} finally {
  await processes.stop();
}
