import awsLambda from '@fastify/aws-lambda';
import fastify from 'fastify';
import { listUsers } from './list-users.mjs';

const app = fastify();
app.get('/v1/users', ({ query }) => listUsers(query));

export const handler = awsLambda(app);
