/** `npm run test:templates`. stages.nightly.ts has the other stages. */
import { describeStageRules, LEAST_AND_MOST } from './stage-rules.ts';

describe('the rules of cdk-nag and of CloudFormation', () => describeStageRules(LEAST_AND_MOST));
