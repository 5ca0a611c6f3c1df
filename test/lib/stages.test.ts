import { describe, expect, test } from '@jest/globals';
import type { Config } from '#lib/config.ts';
import { STAGES } from '#lib/stages.ts';
import { templatesOf } from './synthesized.ts';

/** Returns the lines of both templates of a stage, without the stage's name and the hashes that CDK derives from it. */
const linesOf = (stage: keyof typeof STAGES, options: Partial<Config>): string[] => {
  const { api, data } = templatesOf(stage, options);
  return JSON.stringify([data.toJSON(), api.toJSON()], null, 1)
    .replaceAll(/dev|prod/g, '(stage)')
    .replaceAll(/[0-9A-F]{8}(?:[0-9a-f]{32})?/g, '(hash)')
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
