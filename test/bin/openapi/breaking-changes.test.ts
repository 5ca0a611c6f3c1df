import { type Document, judgeChanges } from '#bin/openapi/breaking-changes.ts';
import { buildDocument } from '#bin/openapi/document.ts';

// biome-ignore lint/suspicious/noExplicitAny: each case reaches into the document as a person would edit it.
type Editable = any;

/** What is said of one edit of the real document. */
const after = (edit: (document: Editable) => void): readonly string[] => {
  const before = JSON.parse(JSON.stringify(buildDocument())) as Document;
  const changed = JSON.parse(JSON.stringify(before)) as Document;
  edit(changed);
  return judgeChanges(before, changed).breaking;
};

const users = (document: Editable) => document.paths['/v1/users'];
const schemas = (document: Editable) => document.components.schemas;

describe('what breaks a caller', () => {
  it.each<[string, (document: Editable) => void, string]>([
    ['a removed path', (d) => delete d.paths['/v1/users'], 'POST /v1/users is gone'],
    ['a removed method', (d) => delete users(d).post, 'POST /v1/users is gone'],
    ['a removed status', (d) => delete users(d).post.responses[200], 'POST /v1/users: status 200 is gone'],
    ['a removed answer field', (d) => delete schemas(d).User.properties.phone, '201: answer.phone is gone'],
    [
      'an answer field that may be absent',
      (d) => schemas(d).User.required.pop(),
      'answer.created_at may be absent now',
    ],
    [
      'a field of another type',
      (d) => Object.assign(schemas(d).User.properties.id, { type: 'integer' }),
      'answer.id: type is integer',
    ],
    ['a field inside a list', (d) => delete schemas(d).User.properties.id, '200: answer.data[].id is gone'],
    [
      'a new value of an answer',
      (d) => schemas(d).AccessToken.properties.token_type.enum.push('DPoP'),
      '"DPoP" may come now',
    ],
    [
      'another status inside a problem',
      (d) => Object.assign(schemas(d).UserConflict.properties.status, { enum: [422] }),
      '422 may come now',
    ],
    [
      'another media type',
      (d) => {
        users(d).get.responses[200].content = { 'text/csv': {} };
      },
      '200: is no longer application/json',
    ],
    ['a removed header', (d) => delete users(d).get.responses[200].headers.Link, '200: header Link is gone'],
    [
      'a header that may be absent',
      (d) => delete d.components.headers['X-Request-Id'].required,
      'header X-Request-Id may be absent now',
    ],
    [
      'a new required field',
      (d) => schemas(d).CreateUserBody.required.push('email'),
      'body.email is required now',
    ],
    [
      'a field no longer taken',
      (d) => delete schemas(d).CreateUserBody.properties.phone,
      'body.phone is gone',
    ],
    [
      'another pattern',
      (d) => {
        schemas(d).SendOtpBody.properties.phone.pattern = '^\\+98';
      },
      'body.phone: pattern changed',
    ],
    [
      'fewer values',
      (d) => {
        schemas(d).SendOtpBody.properties.phone.enum = ['x'];
      },
      'only some values are taken now',
    ],
    ['a removed parameter', (d) => users(d).get.parameters.pop(), 'parameter query page_size is gone'],
    [
      'a parameter that is required now',
      (d) => {
        users(d).get.parameters[0].required = true;
      },
      'query page is required now',
    ],
    [
      'a tighter bound',
      (d) => {
        users(d).get.parameters[1].schema.maximum = 50;
      },
      'query page_size: maximum is tighter',
    ],
    [
      'another default',
      (d) => {
        users(d).get.parameters[1].schema.default = 50;
      },
      'query page_size: default changed',
    ],
    [
      'another scope',
      (d) => {
        users(d).get['x-required-scope'] = 'users:admin';
      },
      'x-required-scope changed',
    ],
    [
      'a key where there was none',
      (d) => {
        d.paths['/v1/openapi.json'].get.security = [{ ApiKey: [] }];
      },
      'security changed',
    ],
    [
      'another operation name',
      (d) => {
        users(d).get.operationId = 'users';
      },
      'operationId changed',
    ],
    [
      'another header for the key',
      (d) => {
        d.components.securitySchemes.ApiKey.name = 'Authorization';
      },
      'sent in another way',
    ],
  ])('is found: %s', (_title, edit, found) => {
    expect(after(edit).join('\n')).toContain(found);
  });
});

describe('what breaks nobody', () => {
  it.each<[string, (document: Editable) => void]>([
    ['nothing at all', () => {}],
    [
      'other words',
      (d) => {
        d.info.description = 'x';
        users(d).post.summary = 'x';
      },
    ],
    [
      'other examples',
      (d) => {
        schemas(d).User.properties.id.example = 'x';
      },
    ],
    [
      'a new operation',
      (d) => {
        d.paths['/v1/more'] = { get: users(d).get };
      },
    ],
    [
      'a new answer field',
      (d) => {
        schemas(d).User.properties.note = { type: 'string' };
      },
    ],
    [
      'a new optional field',
      (d) => {
        schemas(d).CreateUserBody.properties.note = { type: 'string' };
      },
    ],
    [
      'a new optional parameter',
      (d) => {
        users(d).get.parameters.push({ in: 'query', name: 'sort', schema: {} });
      },
    ],
    [
      'a new problem code of a status',
      (d) => {
        users(d).post.responses[422].content['application/problem+json'].schema.oneOf.push({ title: 'New' });
      },
    ],
    [
      'a problem that joins a single one',
      (d) => {
        users(d).post.responses[409].content['application/problem+json'].schema = {
          oneOf: [{ $ref: '#/components/schemas/UserConflict' }, { title: 'New' }],
        };
      },
    ],
    [
      'a wider bound',
      (d) => {
        users(d).get.parameters[1].schema.maximum = 200;
      },
    ],
  ])('passes: %s', (_title, edit) => {
    expect(after(edit)).toEqual([]);
  });
});

describe('the version', () => {
  const withVersion = (version: string) => ({ ...buildDocument(), info: { version } }) as unknown as Document;

  it.each([
    ['1.0.0', '1.0.1', false],
    ['1.0.0', '1.1.0', false],
    ['1.9.0', '2.0.0', true],
    ['2.0.0', '1.0.0', false],
  ])('from %s to %s lets a breaking change through: %s', (before, next, allowed) => {
    expect(judgeChanges(withVersion(before), withVersion(next)).allowed).toBe(allowed);
  });
});
