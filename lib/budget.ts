import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';
import type { Config } from './config.ts';

/** Adds a monthly budget on what the resources with the tags of this stage cost. It notifies the receiver of the alarms. */
export const addBudget = (
  scope: Construct,
  { stage, budget, alarms }: Pick<Config, 'stage' | 'budget' | 'alarms'>,
): void => {
  if (budget === null || alarms === null) return;
  const subscriber =
    'email' in alarms
      ? { subscriptionType: 'EMAIL', address: alarms.email }
      : { subscriptionType: 'SNS', address: alarms.topicArn };
  const notification = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
    notification: {
      notificationType,
      threshold,
      thresholdType: 'PERCENTAGE',
      comparisonOperator: 'GREATER_THAN',
    },
    subscribers: [subscriber],
  });
  const tagged = (key: string, value: string) => ({ tags: { key, values: [value] } });
  new CfnBudget(scope, 'Budget', {
    budget: {
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: budget.usdPerMonth, unit: 'USD' },
      filterExpression: { and: [tagged('service', 'buyer-linking'), tagged('stage', stage)] },
      metrics: ['UnblendedCost'],
    },
    notificationsWithSubscribers: [notification('ACTUAL', 80), notification('FORECASTED', 100)],
  });
};
