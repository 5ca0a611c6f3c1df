/** Tests the list of CONTRIBUTING.md on two sample rows: what it says follows from a row does. */

import { grantsOf, variablesOf } from '#lib/grants.ts';
import { buildDocument } from '#reference/openapi/document.ts';
import { policyFor } from '#shared/api-keys/caller.ts';
import { redirectLog } from '#shared/log.ts';
import { permissionsOf, problemsOf, type Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { sampleKeyRoute, sampleRoute } from './extension/sample-endpoint.ts';
import { EXPIRES_AT, SELLER_ID, startSampleService } from './extension/sample-service.ts';
import { call, expectProblem } from './scenarios/call.ts';
import { routeAttacks } from './security/route-attacks.ts';

const routes: readonly Route[] = [...allRoutes, sampleRoute, sampleKeyRoute];

const STAGE_ARN = 'arn:aws:execute-api:eu-central-1:000000000000:abc/prod';
const TABLE_ARN = 'arn:aws:dynamodb:eu-central-1:000000000000:table/t';
const HASH_SECRET_ARN = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:hash';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

const statementsOf = (route: Route) =>
  grantsOf(permissionsOf(route), {
    tableArn: TABLE_ARN,
    hashSecretArn: HASH_SECRET_ARN,
    providerSecretArn: 'arn:provider',
    signingKeyArns: ['arn:signing'],
  }).map((statement) => statement.toStatementJson() as Statement);

describe('the deployed function of a new row', () => {
  const statements = statementsOf(sampleRoute);

  it('is granted the actions of the row on its items, the rate limiter, the hash secret, and nothing else', () => {
    const onTable = statements.filter(({ Resource }) => [Resource].flat().includes(TABLE_ARN));
    const granted = onTable.flatMap(({ Action, Condition }) =>
      [Action]
        .flat()
        .flatMap((action) =>
          [Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? 'any key']
            .flat()
            .map((prefix) => `${action} ${prefix}`),
        ),
    );
    expect(granted.sort()).toEqual(['dynamodb:UpdateItem LIMIT#*', 'dynamodb:UpdateItem USERS#*']);
    expect(statements.filter((statement) => !onTable.includes(statement))).toMatchObject([
      { Action: 'secretsmanager:GetSecretValue', Resource: HASH_SECRET_ARN },
    ]);
  });

  it('may only count its requests if the row has no permissions of its own', () => {
    expect(statementsOf(sampleKeyRoute)).toMatchObject([
      {
        Action: 'dynamodb:UpdateItem',
        Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['LIMIT#*'] } },
      },
    ]);
  });

  it('gets the environment variables of its permissions and no others', () => {
    expect([...variablesOf(sampleRoute)].sort()).toEqual(['HASH_SECRET', 'METRIC_NAMESPACE', 'TABLE_NAME']);
  });
});

describe("the authorizer's policy", () => {
  const policyOf = (scopes: ('users:read' | 'users:write')[]) => {
    const secret = { seller_id: 's', key_id: 'k', plan: 'free', usage_id: 'u', scopes } as const;
    const valid = { ...secret, scopes, status: 'active', seller_status: 'active', number: 1 } as const;
    return JSON.stringify(policyFor(valid, `${STAGE_ARN}/GET/v1/users`, routes).policyDocument);
  };

  it('allows the new row to keys with its scope, with * for the path parameter', () => {
    expect(policyOf(['users:write'])).toContain(`${STAGE_ARN}/PATCH/v1/samples/*`);
    expect(policyOf(['users:read'])).not.toContain('/v1/samples/');
  });

  it('allows a new row without a scope to every key', () => {
    expect(policyOf([])).toContain(`${STAGE_ARN}/GET/v1/samples"`);
  });
});

describe('the OpenAPI document', () => {
  const { paths } = buildDocument(routes);
  const operation = JSON.parse(JSON.stringify(paths))['/v1/samples/{id}'].patch;

  it('has the operation with its path parameter, its body and a 204 without content', () => {
    expect(operation.operationId).toBe('update-sample');
    expect(operation.parameters).toMatchObject([{ name: 'id', in: 'path', required: true }]);
    expect(operation.requestBody.content['application/json']).toBeDefined();
    expect(operation.responses['204']).toEqual(expect.not.objectContaining({ content: expect.anything() }));
  });

  it('documents the status of every problem of the row', () => {
    const statuses = Object.keys(operation.responses);
    expect(statuses).toEqual(
      expect.arrayContaining(['401', '403', '404', '413', '415', '422', '429', '503', '500']),
    );
    expect(problemsOf(sampleRoute)).toContain('body_too_large');
  });
});

describe('the local gateway', () => {
  let service: Awaited<ReturnType<typeof startSampleService>>;
  let restoreLog: () => void;

  beforeAll(async () => {
    restoreLog = redirectLog(() => {});
    service = await startSampleService(routes);
  });
  afterAll(async () => {
    await service.stop();
    restoreLog();
  });

  const update = (id: string, body: unknown, key = service.target.keys.professional) =>
    call(service.target, `/v1/samples/${id}`, { method: 'PATCH', key, body });

  it('calls the new function with its parsed path and body, and sends its 204', async () => {
    const reply = await update('smp_0042', { note: 'a new note' });
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(service.notes.get(`${SELLER_ID}/smp_0042`)).toBe('a new note');
    expect(reply.headers.get('ratelimit-policy')).toContain('"professional"');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('x-request-id')).not.toBeNull();
  });

  it('tells a handler the scopes and the expiry of its caller and the state of the plan limit', async () => {
    const { read_only } = service.target.keys;
    const reply = await call(service.target, '/v1/samples', { key: read_only });
    expect(reply.json()).toEqual({
      scopes: ['users:read'],
      expires_at: EXPIRES_AT,
      limit: {
        name: 'professional',
        maximum: 1000,
        remaining: expect.any(Number),
        resets_in: expect.any(Number),
      },
    });
    const { limit } = reply.json<{ limit: { remaining: number; resets_in: number } }>();
    expect(reply.headers.get('ratelimit')).toBe(`"professional";r=${limit.remaining};t=${limit.resets_in}`);
  });

  it("returns the row's problem for a path that its schema rejects", async () => {
    expectProblem(await update('smp_x', { note: 'a new note' }), 'user_not_found');
  });

  describe('under the security suite', () => {
    routeAttacks({ routes: [sampleRoute, sampleKeyRoute], target: () => service.target, token: () => '' });
  });
});
