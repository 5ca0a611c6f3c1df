import { describe, expect, test } from '@jest/globals';
import { Names } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Config } from '#lib/config.ts';
import { STAGES } from '#lib/stages.ts';
import { stageApp, stageConfig } from './synthesized.ts';

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
