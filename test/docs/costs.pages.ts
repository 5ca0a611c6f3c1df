import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { idleCosts } from './idle-costs.ts';

const deployPage = await readFile(new URL('../../docs/deploy.md', import.meta.url), 'utf8');

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

  test('equal what the templates have for the idle stages', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-cost-'));
    const stages = [idleCosts('dev', folder), idleCosts('prod', folder)];
    await rm(folder, { recursive: true });
    const rowOf = (name: string, ...types: readonly (keyof (typeof stages)[0])[]): string => {
      const sums = stages.map((costs) => types.reduce((sum, type) => sum + costs[type], 0));
      return `| ${[name, ...sums.map((sum) => (sum === 0 ? '–' : sum.toFixed(2)))].join(' | ')} |`;
    };
    const all = Object.keys(stages[0] ?? {}) as (keyof (typeof stages)[0])[];
    expect(deployPage).toContain(
      [
        rowOf('total', ...all),
        rowOf('alarms, dashboard', 'AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard'),
        rowOf('signing key, secrets', 'AWS::KMS::Key', 'AWS::SecretsManager::Secret'),
        rowOf('NAT gateway and its address', 'AWS::EC2::NatGateway', 'AWS::EC2::EIP'),
        rowOf('firewall', 'AWS::WAFv2::WebACL'),
      ].join('\n'),
    );
  });
});
