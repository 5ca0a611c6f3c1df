import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bin/deploy-order.ts', import.meta.url));

describe('bin/deploy-order.ts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-order-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Writes the templates of a checkout in which prod exports these names and its API stack imports them. */
  const checkout = (name: string, exports: readonly string[]): string => {
    const at = join(folder, name);
    const write = (stack: string, template: object) => {
      const file = join(at, `cdk.out/prod/buyer-linking-prod-${stack}.template.json`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(template));
    };
    write('data', { Outputs: Object.fromEntries(exports.map((Name) => [Name, { Export: { Name } }])) });
    write('api', { Resources: exports.map((each) => ({ 'Fn::ImportValue': each })) });
    return at;
  };
  const deployed = checkout('deployed', ['Table', 'SigningKeyk1']);
  const orderOf = (cwd: string) => {
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, deployed], { cwd, encoding: 'utf8' });
    expect(status).toBe(0);
    return stdout;
  };

  test('warns of the order if an export goes away that the deployed API stack imports', () => {
    expect(orderOf(checkout('without', ['Table']))).toBe(
      '::warning title=Order of the deploys of prod::first "-f stacks=api", then "-f stacks=all" (npm run deploy -- --stage prod --api, ' +
        'then without --api): the deployed API stack still imports SigningKeyk1.\n',
    );
  });

  test.each([
    ['no folder', [], 'Name the folder of the checkout that is deployed. Try --help.\n'],
    [
      'a folder without templates',
      [folder],
      `${folder} has no cdk.out: run npm run synth there. Try --help.\n`,
    ],
  ])('exits with 2 for %s, since it would find nothing to warn of', (_, args, stderr) => {
    const program = spawnSync(process.execPath, [PROGRAM, ...args], { cwd: deployed, encoding: 'utf8' });
    expect(program).toMatchObject({ status: 2, stdout: '', stderr });
  });

  test('says nothing if every export stays', () => {
    expect(orderOf(checkout('more', ['Table', 'SigningKeyk1', 'SigningKeyk2']))).toBe('');
  });
});
