import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { shareOfParts } from './harness/cpu-profile.ts';
import { startBenchProcesses } from './harness/processes.ts';
import { recordOperations } from './harness/recording.ts';
import { figure, interleave, median, option, quantile, ratio, report } from './harness/report.ts';
import { bundleBare, bundleDeployed, type Subject } from './harness/subjects.ts';

/**
 * `npm run bench:warm` compares the CPU time and the response times of a running function with those of a bare handler that makes the
 * same calls, and prints where GET /v1/users uses more CPU time than its bare handler. Options: `--rounds <n>`, `--requests <n>`,
 * `--only <part of an operation>`.
 */
const rounds = Number(option('rounds') ?? 3);
const warmRequests = Number(option('requests') ?? 400);
const only = option('only') ?? '';
const PROFILED = 'GET /v1/users';
const TOP = 8;

const processes = await startBenchProcesses();

/** Returns the milliseconds of CPU time per request of each part of a subject's program. */
const profile = async (subject: Subject): Promise<ReadonlyMap<string, number>> => {
  const folder = await mkdtemp(join(processes.folder, 'profile-'));
  const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  const { warm } = await processes.run(subject, { warmRequests: 2 * warmRequests, nodeOptions });
  const [file = ''] = await readdir(folder);
  const map = new SourceMap(JSON.parse(await readFile(subject.mapFile, 'utf8')));
  const locate = (line: number, column: number) => {
    const entry = map.findEntry(line, column);
    return 'originalSource' in entry ? entry.originalSource : undefined;
  };
  const parts = shareOfParts(JSON.parse(await readFile(join(folder, file), 'utf8')), locate);
  return new Map(parts.map(({ part, share }) => [part, share * warm.cpuMs]));
};

/** Compares the parts of a function and of its bare handler: those that differ most come first. */
const comparedParts = async (own: Subject, bare: Subject): Promise<string[][]> => {
  const [ownParts, bareParts] = [await profile(own), await profile(bare)];
  const rows = [...new Set([...ownParts.keys(), ...bareParts.keys()])].map((part) => {
    const [ownMs, bareMs] = [ownParts.get(part) ?? 0, bareParts.get(part) ?? 0];
    return { part, figures: [ownMs, bareMs, ownMs - bareMs] as const };
  });
  return rows
    .sort((a, b) => b.figures[2] - a.figures[2])
    .slice(0, TOP)
    .map(({ part, figures }) => [part, ...figures.map((ms) => figure(ms, 2))]);
};

try {
  const recordings = (await recordOperations()).filter(
    ({ operation, later }) => later.calls.length > 0 && operation.title.includes(only),
  );
  const pairs = await Promise.all(
    recordings.map(async (recording) => ({
      own: await bundleDeployed(processes.folder, recording),
      bare: await bundleBare(processes.folder, recording),
    })),
  );
  const subjects = pairs.flatMap(({ own, bare }) => [own, bare]);
  const runs = await interleave(subjects, rounds, (subject) => processes.run(subject, { warmRequests }));
  const timesOf = (subject: Subject) => (runs.get(subject) ?? []).flatMap(({ warm }) => warm.timesMs);
  const cpuOf = (subject: Subject) => median((runs.get(subject) ?? []).map(({ warm }) => warm.cpuMs));
  const profiled = pairs.find(({ own }) => own.recording.operation.title === PROFILED);
  const parts = profiled && (await comparedParts(profiled.own, profiled.bare));
  report(
    'warm',
    `Medians of ${rounds} processes each, interleaved, ${warmRequests} requests per process, milliseconds per request.`,
    [
      ['operation', 'CPU', 'bare CPU', '× bare', 'p50', 'p50 × bare', 'p99', 'p99 × bare'],
      ...pairs.map(({ own, bare }) => {
        const quantiles = [0.5, 0.99].flatMap((share) => {
          const ms = quantile(timesOf(own), share);
          return [figure(ms, 2), ratio(ms, quantile(timesOf(bare), share))];
        });
        const [cpu, bareCpu] = [cpuOf(own), cpuOf(bare)];
        const { title } = own.recording.operation;
        return [title, figure(cpu, 2), figure(bareCpu, 2), ratio(cpu, bareCpu), ...quantiles];
      }),
    ],
    ...(parts ? [[[`${PROFILED}, CPU ms by part`, 'ours', 'bare', 'more'], ...parts]] : []),
  );
} finally {
  await processes.stop();
}
