import { CfnParameter } from 'aws-cdk-lib';
import { refuseDeploys } from '#lib/app.ts';
import { sharedAccounts, unsetOptions } from '#lib/deploy-rules.ts';
import { REQUIRED_OF_PROD } from '#lib/option-schemas.ts';
import { stageConfig, stagesApp } from './synthesized.ts';

const PROD_ACCOUNT = '111122223333';

const complete = {
  account: PROD_ACCOUNT,
  region: 'eu-central-1',
  alarms: { email: 'on-call@example.com' },
  spend: { paidChecksPerDay: 1000, smsPerDay: null },
  budget: { usdPerMonth: 500 },
} as const;

const dev = stageConfig('dev');
const prod = stageConfig('prod', complete);

describe('the options that prod requires', () => {
  test('are named in one sentence if they are unset', () => {
    const unset = stageConfig('prod');
    expect(unsetOptions(unset)).toEqual([
      'Stage prod is not deployed while account, region, alarms, spend, and budget are unset in lib/stages.ts. Set each, or name it in "leftUnset" if that is meant.',
    ]);
  });

  test('may be left unset on purpose, each by its name', () => {
    const chosen = stageConfig('prod', { ...complete, budget: null, leftUnset: ['budget'] });
    expect(unsetOptions(chosen)).toEqual([]);
    const none = stageConfig('prod', { leftUnset: [...REQUIRED_OF_PROD] });
    expect(unsetOptions(none)).toEqual([]);
    const other = stageConfig('prod', {
      ...complete,
      spend: { paidChecksPerDay: null, smsPerDay: null },
      leftUnset: ['budget'],
    });
    expect(unsetOptions(other)).toEqual([expect.stringContaining('while spend is unset')]);
  });

  test('are required of no other stage', () => {
    expect(unsetOptions(dev)).toEqual([]);
  });

  test('warn, which --strict refuses, and leave a parameter without a value, with which CDK deploys no stack', () => {
    const { stages } = stagesApp([dev, stageConfig('prod')]);
    refuseDeploys(stages, undefined);
    const marks = stages
      .flatMap(({ data, api }) => [data, api])
      .map(({ node }) => ({
        messages: node.metadata.filter(({ type }) => /warning|error/.test(type)).map(({ type }) => type),
        parameters: node.children.flatMap((child) =>
          child instanceof CfnParameter && child.default === undefined ? [child.description] : [],
        ),
      }));
    const none = { messages: [], parameters: [] };
    const refused = { messages: ['aws:cdk:warning'], parameters: unsetOptions(stageConfig('prod')) };
    expect(marks).toEqual([none, none, refused, refused]);
  });
});

describe('the account of prod', () => {
  const SENTENCE = `share the account ${PROD_ACCOUNT}: who deploys one can change the other.`;

  test('is refused to another stage, by its config or by the credentials', () => {
    const inProd = stageConfig('dev', { account: PROD_ACCOUNT });
    const stages = [inProd, prod];
    expect(sharedAccounts(inProd, stages)).toEqual([expect.stringContaining(SENTENCE)]);
    expect(sharedAccounts(prod, stages)).toEqual([expect.stringContaining(SENTENCE)]);
    expect(sharedAccounts(dev, [dev, prod], PROD_ACCOUNT)).toEqual([expect.stringContaining(SENTENCE)]);
  });

  test('is refused to prod if another stage names it, also by the credentials', () => {
    const named = stageConfig('dev', { account: '444455556666' });
    const anywhere = stageConfig('prod', { ...complete, account: null, leftUnset: ['account'] });
    const stages = [named, anywhere];
    expect(sharedAccounts(anywhere, stages, '444455556666')).toHaveLength(1);
    expect(sharedAccounts(anywhere, stages, PROD_ACCOUNT)).toEqual([]);
  });

  test('may be shared for a reason that the config gives', () => {
    const inProd = stageConfig('dev', { account: PROD_ACCOUNT });
    const shared = stageConfig('prod', { ...complete, sharedAccount: 'one engineer deploys both' });
    expect(sharedAccounts(inProd, [inProd, shared])).toEqual([]);
    expect(sharedAccounts(shared, [inProd, shared])).toEqual([]);
  });

  test('is not refused to a stage in another account', () => {
    expect(sharedAccounts(dev, [dev, prod], '444455556666')).toEqual([]);
    expect(sharedAccounts(prod, [dev, prod], PROD_ACCOUNT)).toEqual([]);
  });
});
