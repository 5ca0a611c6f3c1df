import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { ApiFunction } from './api-function.ts';

/** The fields of the completion line, and of the lines about provider calls. */
const REQUEST =
  'operation, status, code, duration_ms, key_id, calls, cause, cause_provider, cause_operation, cause_reason';

/** Saves two queries of CloudWatch Logs Insights over the logs of all functions, for the runbook. A person writes the id in the place of `<id>`. */
export const addLogQueries = (scope: Construct, name: string): void => {
  const functions = scope.node.findAll().filter((each) => each instanceof ApiFunction);
  const logGroupNames = functions.map(({ logGroup }) => logGroup.logGroupName);
  const queries = {
    'one request': `fields @timestamp, event, ${REQUEST}, provider, provider_operation, outcome, error_message
| filter request_id = "<id>"
| sort @timestamp`,
    'requests of a seller': `fields @timestamp, request_id, ${REQUEST}
| filter event = "request_completed" and seller_id = "<id>"
| sort @timestamp desc
| limit 200`,
  };
  for (const [title, queryString] of Object.entries(queries)) {
    new CfnQueryDefinition(scope, `Query-${title}`, { name: `${name}/${title}`, queryString, logGroupNames });
  }
};
