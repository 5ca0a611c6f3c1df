import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const deployPage = new URL('../../docs/deploy.md', import.meta.url);

describe('the costs that docs/deploy.md names', () => {
  test('equal what bench/cost.ts measures, within 5 %', async () => {
    const [{ stdout }, page] = await Promise.all([
      promisify(execFile)(process.execPath, ['bench/cost.ts']),
      readFile(deployPage, 'utf8'),
    ]);
    const [, dev, prod] = /^\| total +\| +([\d.]+) \| +([\d.]+) \|$/m.exec(stdout) ?? [];
    expect(page).toContain(`| total | ${dev} | ${prod} |`);
    const measured = new Map(
      [...stdout.matchAll(/^\| ([A-Z]+ \/v1.*?) +\| +[\d,]+ \| +([\d.]+) \|/gm)].map(([, name, usd]) => [
        name,
        usd,
      ]),
    );
    const named = [...page.matchAll(/^\| `([A-Z]+ \/v1\S*)`(, (?:new|existing) link)?[^|]*\| ([\d.]+)/gm)];
    expect(named).toHaveLength(7);
    for (const [, operation, kind = '', usd] of named) {
      expect(Math.abs(Number(usd) / Number(measured.get(`${operation}${kind}`)) - 1)).toBeLessThan(0.05);
    }
  });
});
