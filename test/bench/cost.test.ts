import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const deployPage = new URL('../../docs/deploy.md', import.meta.url);

describe('the costs that docs/deploy.md names', () => {
  test('equal what bench/cost.ts counts from the templates', async () => {
    const [{ stdout }, page] = await Promise.all([
      promisify(execFile)(process.execPath, ['bench/cost.ts']),
      readFile(deployPage, 'utf8'),
    ]);
    const [dev, prod] = [...stdout.matchAll(/^total +([\d.]+)$/gm)].map(([, cost]) => cost);
    expect(page).toContain(`| total | ${dev} | ${prod} |`);
    const operations = [...stdout.matchAll(/^((?:GET|POST) \S+) +([\d.]+)$/gm)];
    expect(operations).toHaveLength(4);
    for (const [, operation, cost] of operations) {
      expect(page).toMatch(new RegExp(`^\\| \`${operation}\`[^|]*\\| ${cost}\\b`, 'm'));
    }
  });
});
