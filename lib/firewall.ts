import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';

/** Over how long the requests of an address are added up. */
const WINDOW_SECONDS = 300;

/** A web firewall before the API, with one rule: no client address may send more than this in five minutes. */
export const addFirewall = (scope: Construct, stage: Stage, requestsPerAddress: number): void => {
  const visibility = (metricName: string) => ({
    metricName,
    cloudWatchMetricsEnabled: true,
    // Samples keep headers of requests, and ours carry API keys.
    sampledRequestsEnabled: false,
  });
  const firewall = new CfnWebACL(scope, 'Firewall', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: visibility('Firewall'),
    rules: [
      {
        name: 'requests-per-address',
        priority: 0,
        action: { block: {} },
        statement: {
          rateBasedStatement: {
            aggregateKeyType: 'IP',
            limit: requestsPerAddress,
            evaluationWindowSec: WINDOW_SECONDS,
          },
        },
        visibilityConfig: visibility('RequestsPerAddress'),
      },
    ],
  });
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: stage.stageArn,
    webAclArn: firewall.attrArn,
  });
};
