import { Names } from 'aws-cdk-lib';
import { STAGES, type Stage, type StageName } from '#lib/stages.ts';
import { COMPLETE, stageApp, stageConfig, templatesOf } from './synthesized.ts';

/** Returns the lines of both templates of a stage, without the stage's name, its prefix of keys and the hashes that CDK derives from it. */
const linesOf = (stage: StageName, changes: Partial<Stage>): string[] => {
  const { app } = stageApp(stageConfig(stage, changes));
  const { data, api } = templatesOf(stage, changes);
  const templates = [data, api].map((template) => template.toJSON());
  // A hash is the end of an id. Ids are parts of other names, where digits before a hash cannot be told from it.
  const ids = [
    ...app.node.findAll().map(({ node }) => Names.nodeUniqueId(node)),
    ...templates.flatMap(({ Resources, Outputs }) => Object.keys({ ...Resources, ...Outputs })),
  ];
  const hashes = ids.flatMap((id) => /[0-9A-F]{8}(?:[0-9a-f]{32})?$/.exec(id) ?? []);
  return JSON.stringify(templates, null, 1)
    .replaceAll(new RegExp(hashes.join('|'), 'g'), '(hash)')
    .replaceAll(/dev|prod/g, '(stage)')
    .replaceAll(/blk_(?:test|live)_/g, '(prefix)')
    .split('\n');
};

describe('the templates of dev and prod', () => {
  test('are identical if their settings are identical', () => {
    expect(linesOf('dev', { ...STAGES.prod, ...COMPLETE })).toEqual(linesOf('prod', COMPLETE));
  });

  test('are for the account and Region of the settings, and look nothing up for them', () => {
    // With a network, whose zones CDK would look up.
    const pinned = {
      account: '123456789012',
      region: 'eu-central-1',
      staticEgress: { natGateways: 'one', zones: 'first-two' },
    } as const;
    const { manifest } = stageApp(stageConfig('dev', pinned)).app.synth();
    expect(manifest.missing).toBeUndefined();
    const environments = Object.values(manifest.artifacts ?? {}).flatMap(
      ({ environment }) => environment ?? [],
    );
    expect(new Set(environments)).toEqual(new Set(['aws://123456789012/eu-central-1']));
  });
});
