import { Names } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Config } from '#lib/config.ts';
import { STAGES } from '#lib/stages.ts';
import { stageApp, stageConfig, stagesApp, templatesOf } from './synthesized.ts';

/** Returns the lines of both templates of a stage, without the stage's name and the hashes that CDK derives from it. */
const linesOf = (stage: keyof typeof STAGES, options: Partial<Config>): string[] => {
  const { app, api, data } = stageApp(stageConfig(stage, options));
  const templates = [data, api].map((stack) => Template.fromStack(stack).toJSON());
  // A hash is the end of an id. Ids are parts of other names, where digits before a hash cannot be told from it.
  const ids = [
    ...app.node.findAll().map(({ node }) => Names.nodeUniqueId(node)),
    ...templates.flatMap(({ Resources, Outputs }) => Object.keys({ ...Resources, ...Outputs })),
  ];
  const hashes = ids.flatMap((id) => /[0-9A-F]{8}(?:[0-9a-f]{32})?$/.exec(id) ?? []);
  return JSON.stringify(templates, null, 1)
    .replaceAll(new RegExp(hashes.join('|'), 'g'), '(hash)')
    .replaceAll(/dev|prod/g, '(stage)')
    .split('\n');
};

const alarms = { email: 'on-call@example.com' };

describe('dev and prod', () => {
  test('have identical templates if their configs are identical', () => {
    const { keyPrefix, ...options } = { ...STAGES.prod, alarms };
    const dev = linesOf('dev', options).map((line) => line.replace(STAGES.dev.keyPrefix, keyPrefix));
    expect(dev).toEqual(linesOf('prod', { alarms }));
  });
});

describe('the app of every stage', () => {
  const pinned = { account: '123456789012', region: 'eu-central-1' };
  const configs = [
    stageConfig('dev', { tags: { owner: 'dev team' } }),
    stageConfig('prod', { alarms }),
  ] as const;

  test('gives each stage the templates that it has alone', () => {
    const { app, stages } = stagesApp(configs);
    const assembly = app.synth();
    const alone = [templatesOf('dev', configs[0]), templatesOf('prod', configs[1])];
    for (const [index, { data, api }] of stages.entries()) {
      expect(assembly.getStackByName(data.stackName).template).toEqual(alone[index]?.data.toJSON());
      expect(assembly.getStackByName(api.stackName).template).toEqual(alone[index]?.api.toJSON());
    }
  });

  test('deploys a stage to the account and Region of its config, and looks nothing up for it', () => {
    const { app, stages } = stagesApp([configs[0], stageConfig('prod', { alarms, ...pinned })]);
    const { manifest } = app.synth();
    expect(manifest.missing).toBeUndefined();
    const environments = stages
      .flatMap(({ data, api }) => [data, api])
      .map(({ stackName }) => manifest.artifacts?.[stackName]?.environment);
    expect(environments).toEqual([
      ...Array(2).fill('aws://unknown-account/unknown-region'),
      ...Array(2).fill('aws://123456789012/eu-central-1'),
    ]);
  });
});
