import { changesOf, type Editable, queryOf, schemas, users } from './edited-document.ts';

describe('a change that breaks no caller', () => {
  it.each<[string, (document: Editable) => void]>([
    ['no change', () => {}],
    [
      'changed wording',
      (d) => {
        d.info.description = 'x';
        users(d).post.summary = 'x';
      },
    ],
    [
      'changed examples',
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
      'a new response field',
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
      'a second problem code of a status that had one',
      (d) => {
        users(d).post.responses[409].content['application/problem+json'].schema = {
          oneOf: [{ $ref: '#/components/schemas/UserConflict' }, { title: 'New' }],
        };
      },
    ],
    [
      'a wider bound',
      (d) => {
        queryOf(d, 'page_size').schema.maximum = 200;
      },
    ],
  ])('is not reported: %s', (_title, edit) => {
    expect(changesOf(edit)).toEqual([]);
  });
});
