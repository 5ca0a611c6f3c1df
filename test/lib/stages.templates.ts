/** `npm run test:templates`: the stage with the least in its templates, and the one with the most. stages.nightly.ts has the others. */
import { describeStageRules, PROD_WITH_EVERY_OPTION } from './stage-rules.ts';
import { stageConfig } from './synthesized.ts';

describe('the rules of cdk-nag and of CloudFormation', () =>
  describeStageRules({
    dev: stageConfig('dev'),
    'prod with every option': stageConfig('prod', PROD_WITH_EVERY_OPTION),
  }));
