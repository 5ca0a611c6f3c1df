/** The stages that stages.templates.ts leaves out. */
import { describeStageRules, PROD_WITH_EVERY_OPTION } from './stage-rules.ts';
import { COMPLETE, stageConfig } from './synthesized.ts';

const PLACE = { account: '123456789012', region: 'eu-central-1' };

describe('the rules of cdk-nag and of CloudFormation', () =>
  describeStageRules({
    prod: stageConfig('prod', COMPLETE),
    'prod with every option, in a fixed account and Region': stageConfig('prod', {
      ...PROD_WITH_EVERY_OPTION,
      ...PLACE,
    }),
  }));
