import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readResults } from './scenario-results.ts';

const skipped = (title: string) => ({ status: 'pending', ancestorTitles: ['the service', 'a key'], title });

describe('the summary of the scenarios', () => {
  it('has the counts and the name of every skipped scenario under the feature that the target lacks', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scenario-results-'));
    const file = join(folder, 'result.json');
    const report = {
      numPassedTests: 1,
      numPendingTests: 3,
      testResults: [
        {
          assertionResults: [
            skipped('is throttled (target lacks: usage-plan throttle)'),
            { status: 'passed', ancestorTitles: ['the service'], title: 'answers (target lacks: nothing)' },
          ],
        },
        {
          assertionResults: [
            skipped('is refused (target lacks: usage-plan throttle)'),
            skipped('is not ready'),
          ],
        },
      ],
    };
    await writeFile(file, JSON.stringify(report));
    expect(await readResults(file)).toBe(
      [
        '  1 passed, 3 skipped',
        '  2 skipped, target lacks: usage-plan throttle:',
        '    - a key › is throttled',
        '    - a key › is refused',
        '  1 skipped, for another reason:',
        '    - a key › is not ready',
        '',
      ].join('\n'),
    );
    await rm(folder, { recursive: true });
  });
});
