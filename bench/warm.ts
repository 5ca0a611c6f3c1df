import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfTimes } from './harness/cpu-profile.ts';
import { type Subject, startBenchProcesses, type Warm } from './harness/processes.ts';
import { recordOperations } from './harness/recording.ts';
import { interleave, median, option, quantile, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:warm` compares the CPU time and the response times of a running function with those of a bare handler that makes the
 * same calls, and prints where the function that lists users spends its CPU time. Options: `--rounds <n>`, `--requests <n>`,
 * `--only <part of an operation>`.
 */
const rounds = option('rounds', 5);
const warmRequests = option('requests', 400);
const only = option('only', '');
const PROFILED = 'GET /v1/users';
const TOP = 5;

interface Timed extends Subject {
  readonly cpuMs: number[];
  readonly timesMs: number[];
}

const timed = (subject: Subject): Timed => ({ ...subject, cpuMs: [], timesMs: [] });

const processes = await startBenchProcesses();

/** Returns the places that use most CPU time, with their shares of it. */
const profile = async (subject: Subject): Promise<string[][]> => {
  const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-profile-'));
  try {
    await processes.run(subject, {
      warmRequests: 4 * warmRequests,
      nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${folder}`],
    });
    const [file = ''] = await readdir(folder);
    const entries = selfTimes(JSON.parse(await readFile(join(folder, file), 'utf8')));
    return entries.slice(0, TOP).map(({ place, share }) => [place, `${(100 * share).toFixed(1)} %`]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
  const listed = ours.find(({ recording }) => recording.operation.title === PROFILED);
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
    ...(listed
      ? [[[`CPU profile of ${PROFILED}: top ${TOP} by self time`, 'share'], ...(await profile(listed))]]
      : []),
  );
} finally {
  await processes.stop();
}
