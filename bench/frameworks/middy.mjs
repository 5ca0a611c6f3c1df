import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import { listUsers } from './list-users.mjs';

const logger = new Logger({ serviceName: 'bench' });
const metrics = new Metrics({ namespace: 'bench', serviceName: 'bench' });

export const handler = middy()
  .use(injectLambdaContext(logger))
  .use(logMetrics(metrics))
  .handler(async ({ queryStringParameters }) => {
    metrics.addMetric('requests', 'Count', 1);
    logger.info('request completed');
    return {
      statusCode: 200,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(await listUsers(queryStringParameters)),
    };
  });
