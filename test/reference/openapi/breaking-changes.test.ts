import { type Document, raisesMajorVersion } from '#reference/openapi/breaking-changes.ts';
import { buildDocument } from '#reference/openapi/document.ts';
import { changesOf, type Editable, queryOf, schemas, users } from './edited-document.ts';

describe('a change that breaks a caller', () => {
  it.each<[string, (document: Editable) => void, string]>([
    ['a removed path', (d) => delete d.paths['/v1/users'], 'POST /v1/users was removed'],
    ['a removed method', (d) => delete users(d).post, 'POST /v1/users was removed'],
    [
      'a removed status',
      (d) => delete users(d).post.responses[200],
      'POST /v1/users: status 200 was removed',
    ],
    [
      'a removed response field',
      (d) => delete schemas(d).User.properties.phone,
      '201: response.phone was removed',
    ],
    [
      'a response field that becomes optional',
      (d) => schemas(d).User.required.pop(),
      'response.checked_at is optional now',
    ],
    [
      'a changed type',
      (d) => Object.assign(schemas(d).User.properties.id, { type: 'integer' }),
      'response.id: type is integer',
    ],
    [
      'a removed field of list items',
      (d) => delete schemas(d).User.properties.id,
      '200: response.data[].id was removed',
    ],
    [
      'a new value of a response enum',
      (d) => schemas(d).AccessToken.properties.token_type.enum.push('DPoP'),
      '"DPoP" is possible now',
    ],
    [
      'a changed status of a problem',
      (d) => Object.assign(schemas(d).UserConflict.properties.status, { enum: [422] }),
      '422 is possible now',
    ],
    [
      'a changed media type',
      (d) => {
        users(d).get.responses[200].content = { 'text/csv': {} };
      },
      '200: is no longer application/json',
    ],
    [
      'a removed header',
      (d) => delete users(d).get.responses[200].headers.Link,
      '200: header Link was removed',
    ],
    [
      'a header that becomes optional',
      (d) => delete d.components.headers['X-Request-Id'].required,
      'header X-Request-Id is optional now',
    ],
    [
      'a response that loses its body',
      (d) => delete users(d).get.responses[200].content,
      '200: is no longer application/json',
    ],
    [
      'a new required field',
      (d) => schemas(d).CreateUserBody.required.push('email'),
      'body.email is required now',
    ],
    [
      'a removed request field',
      (d) => delete schemas(d).CreateUserBody.properties.phone,
      'body.phone was removed',
    ],
    [
      'a changed pattern',
      (d) => {
        schemas(d).SendOtpBody.properties.phone.pattern = '^\\+98';
      },
      'body.phone: pattern changed',
    ],
    [
      'an enum on a request field',
      (d) => {
        schemas(d).SendOtpBody.properties.phone.enum = ['x'];
      },
      'only listed values are accepted now',
    ],
    ['a removed parameter', (d) => delete users(d).get.parameters, 'parameter query page_size was removed'],
    [
      'a parameter that becomes required',
      (d) => {
        queryOf(d, 'page').required = true;
      },
      'query page is required now',
    ],
    [
      'a tighter bound',
      (d) => {
        queryOf(d, 'page_size').schema.maximum = 50;
      },
      'query page_size: maximum is tighter',
    ],
    [
      'a changed default',
      (d) => {
        queryOf(d, 'page_size').schema.default = 50;
      },
      'query page_size: default changed',
    ],
    [
      'a changed scope',
      (d) => {
        users(d).get['x-required-scope'] = 'users:admin';
      },
      'x-required-scope changed',
    ],
    [
      'a key on a public operation',
      (d) => {
        d.paths['/v1/openapi.json'].get.security = [{ ApiKey: [] }];
      },
      'security changed',
    ],
    [
      'a changed operationId',
      (d) => {
        users(d).get.operationId = 'users';
      },
      'operationId changed',
    ],
    [
      'a changed header for the API key',
      (d) => {
        d.components.securitySchemes.ApiKey.name = 'Authorization';
      },
      'sent in another way',
    ],
  ])('is reported: %s', (_title, edit, found) => {
    expect(changesOf(edit).join('\n')).toContain(found);
  });
});

describe('the major version', () => {
  const withVersion = (version: string) => ({ ...buildDocument(), info: { version } }) as unknown as Document;

  it.each([
    ['1.0.0', '1.0.1', false],
    ['1.0.0', '1.1.0', false],
    ['1.9.0', '2.0.0', true],
    ['2.0.0', '1.0.0', false],
  ])('from %s to %s is raised: %s', (before, after, raised) => {
    expect(raisesMajorVersion(withVersion(before), withVersion(after))).toBe(raised);
  });
});
