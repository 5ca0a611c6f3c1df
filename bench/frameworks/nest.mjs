import 'reflect-metadata';
import { Controller, Get, Module, Query } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import serverless from 'serverless-http';
import { listUsers } from './list-users.mjs';

class UsersController {
  list(query) {
    return listUsers(query);
  }
}
class AppModule {}

// Decorators without a compiler.
Query()(UsersController.prototype, 'list', 0);
Get()(UsersController.prototype, 'list', Object.getOwnPropertyDescriptor(UsersController.prototype, 'list'));
Controller('v1/users')(UsersController);
Module({ controllers: [UsersController] })(AppModule);

let serve;

export const handler = async (event, context) => {
  if (serve === undefined) {
    const app = await NestFactory.create(AppModule, { logger: false });
    await app.init();
    serve = serverless(app.getHttpAdapter().getInstance());
  }
  return serve(event, context);
};
