/** The synthesis of prod, which takes seven CPU seconds, and what the CDK CLI reads in cdk.json. CI synthesizes each stage for the template diff of a pull request. */
import { readFileSync } from 'node:fs';
import { APP, PROD, run, STAGE } from './stage-programs.ts';

test('npm run synth builds the stacks of prod only, exits 0, and says in one note that it cannot be deployed', () => {
  const synth = run(STAGE, 'synth', '--quiet', '--no-notices', '--stage', 'prod');
  expect(synth.status).toBe(0);
  const output = `${synth.stdout}${synth.stderr}`;
  expect(output).not.toMatch(/error|warning/i);
  expect(output.match(/^Note: .+$/gm)).toEqual([
    'Note: prod is not set up, and cannot be deployed yet (docs/operators/deploy.md, "Prod").',
  ]);
  const { artifacts } = JSON.parse(readFileSync(`${PROD}/manifest.json`, 'utf8'));
  const stacks = Object.keys(artifacts).filter((id) => artifacts[id].type === 'aws:cloudformation:stack');
  expect(stacks.toSorted()).toEqual(['buyer-linking-prod-api', 'buyer-linking-prod-data']);
});

test('the CDK CLI without bin/stage.ts takes dev, the stage of cdk.json, if none is named', () => {
  expect(run('node_modules/aws-cdk/bin/cdk', 'list', ...APP)).toMatchObject({
    status: 0,
    stdout: 'buyer-linking-dev-data\nbuyer-linking-dev-api\n',
  });
});
