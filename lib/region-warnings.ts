import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { Config } from './config.ts';

/** Returns a sentence for each Region of the settings that CDK does not know. It may be a new one, so nothing is refused. */
export const regionWarnings = ({ stage, region, hashSecretReplica }: Config): readonly string[] =>
  [region, hashSecretReplica]
    .filter((name) => name !== null && !RegionInfo.regions.some((known) => known.name === name))
    .map(
      (name) => `Warning: ${stage} names the Region ${name}, which CDK does not know: a new one, or a typo?`,
    );
