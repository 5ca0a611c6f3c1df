import express from 'express';
import serverless from 'serverless-http';
import { listUsers } from './list-users.mjs';

const app = express();
app.get('/v1/users', async ({ query }, response) => {
  response.json(await listUsers(query));
});

export const handler = serverless(app);
