import { readFile } from 'node:fs/promises';
import * as v from 'valibot';

const testSchema = v.object({
  status: v.string(),
  ancestorTitles: v.array(v.string()),
  title: v.string(),
});

/** The part of Jest's JSON report that is read here. */
const reportSchema = v.object({
  numPassedTests: v.number(),
  numPendingTests: v.number(),
  testResults: v.array(v.object({ assertionResults: v.array(testSchema) })),
});

/** The end of a skipped title, as `itWith` of the scenarios writes it. */
const REASON = / \((target lacks: [^)]*)\)$/;

/** Returns the counts of a report of Jest and the names of the skipped tests, grouped by the features that the target lacks. */
export const readResults = async (file: string): Promise<string> => {
  const report = v.parse(reportSchema, JSON.parse(await readFile(file, 'utf8')));
  const skipped = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'pending')
    .map(({ ancestorTitles, title }) => ({
      reason: REASON.exec(title)?.[1] ?? 'for another reason',
      name: [...ancestorTitles.slice(1), title.replace(REASON, '')].join(' › '),
    }));
  const groups = Map.groupBy(skipped, ({ reason }) => reason);
  const lines = [...groups].flatMap(([reason, tests]) => [
    `  ${tests.length} skipped, ${reason}:`,
    ...tests.map(({ name }) => `    - ${name}`),
  ]);
  return [`  ${report.numPassedTests} passed, ${report.numPendingTests} skipped`, ...lines, ''].join('\n');
};
