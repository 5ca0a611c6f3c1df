import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const deployPage = await readFile(new URL('../../docs/deploy.md', import.meta.url), 'utf8');

/** test/lib/idle-costs.test.ts has those of idle stages. */
describe('the costs that docs/deploy.md names', () => {
  test('equal what bench/calls.ts measures for requests, within 5 %', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['bench/calls.ts']);
    const measured = new Map(
      [...stdout.matchAll(/^\| ([A-Z]+ \/v1.*?) +\| +[\d,]+ \| +([\d.]+) \|$/gm)].map(([, name, usd]) => [
        name,
        usd,
      ]),
    );
    const named = [
      ...deployPage.matchAll(/^\| `([A-Z]+ \/v1\S*)`(, (?:new|existing) link)?[^|]*\| ([\d.]+)/gm),
    ];
    expect(named).toHaveLength(7);
    for (const [, operation, kind = '', usd] of named) {
      expect(Math.abs(Number(usd) / Number(measured.get(`${operation}${kind}`)) - 1)).toBeLessThan(0.05);
    }
  });
});
