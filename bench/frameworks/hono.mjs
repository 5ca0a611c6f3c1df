import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { listUsers } from './list-users.mjs';

const app = new Hono();
app.get('/v1/users', async (context) => context.json(await listUsers(context.req.query())));

export const handler = handle(app);
