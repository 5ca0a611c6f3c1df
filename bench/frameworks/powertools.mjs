import { Router } from '@aws-lambda-powertools/event-handler/http';
import { Logger } from '@aws-lambda-powertools/logger';
import { listUsers } from './list-users.mjs';

const logger = new Logger({ serviceName: 'bench' });
const app = new Router({ logger });
app.get('/v1/users', ({ req }) => listUsers(Object.fromEntries(new URL(req.url).searchParams)));

export const handler = (event, context) => app.resolve(event, context);
