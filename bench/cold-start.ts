import { frameworkSubjects } from './frameworks/subjects.ts';
import { startColdStarts } from './harness/processes.ts';
import { recordOperations } from './harness/recording.ts';
import { figure, interleave, median, option, ratio, report } from './harness/report.ts';
import { bundleBare, bundleDeployed, type Subject } from './harness/subjects.ts';

/**
 * `npm run bench:cold-start` compares the time from the start of a new process to its first response with that of a bare handler that
 * makes the same calls, for every operation. Options: `--rounds <n>`, `--only <part of an operation>`, `--frameworks` compares
 * GET /v1/users with the same operation in other frameworks too, which it installs.
 */
const rounds = Number(option('rounds') ?? 11);
const only = option('only') ?? '';
const LIST = 'GET /v1/users';

const coldStarts = await startColdStarts();
try {
  const recordings = (await recordOperations()).filter(({ operation }) => operation.title.includes(only));
  const pairs = await Promise.all(
    recordings.map(async (recording) => ({
      title: recording.operation.title,
      own: await bundleDeployed(coldStarts.folder, recording),
      bare: await bundleBare(coldStarts.folder, recording),
    })),
  );
  const list = pairs.find(({ title }) => title === LIST);
  const withFrameworks = process.argv.includes('--frameworks') && list;
  const frameworks = withFrameworks
    ? await frameworkSubjects(coldStarts.folder, list.own.recording)
    : new Map<string, Subject>();

  const subjects = [...pairs.flatMap(({ own, bare }) => [own, bare]), ...frameworks.values()];
  // One round more: the first one warms the disk cache and is not counted.
  const runs = await interleave(subjects, rounds + 1, coldStarts.run);
  const medianOf = (subject: Subject): number => median((runs.get(subject) ?? []).slice(1));
  const rowOf = (title: string, subject: Subject, bare: Subject): string[] => {
    const figures = [subject.bytes / 1000, medianOf(subject), medianOf(bare)].map((value) => figure(value));
    return [title, ...figures, ratio(medianOf(subject), medianOf(bare))];
  };

  const head = ['KB', 'response ms', 'bare ms', '× bare'];
  report(
    'cold-start',
    `Medians of ${rounds} new processes each, in turns, Node ${process.versions.node}, TLS.`,
    [['operation', ...head], ...pairs.map(({ title, own, bare }) => rowOf(title, own, bare))],
  );
  if (withFrameworks) {
    const handlers = new Map([['bare handler', list.bare], ['this project', list.own], ...frameworks]);
    report('frameworks', `${LIST} in the same run.`, [
      ['handler', ...head],
      ...[...handlers].map(([title, subject]) => rowOf(title, subject, list.bare)),
    ]);
  }
} finally {
  await coldStarts.stop();
}
