import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { API_ID, PLAN_IDS } from '#local/api-gateway/identifiers.ts';
import { openApiGateway } from '#local/api-gateway/simulator.ts';
import { FIXED_ACCESS_KEY_ID, STAGE_NAME } from '#local/environment.ts';
import { respond as send } from '#local/gateway/proxy-event.ts';
import { systemClock } from '#shared/clock.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

/** The caller's identity, as the simulated STS returns it. */
const CALLER_ARN = 'arn:aws:sts::000000000000:assumed-role/admin/sara';

const SECRET_ARN = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:hash';
const HASH_SECRET = JSON.stringify({ current: 'a secret of a test, of forty characters!' });

const outputsOf = (table: EmbeddedTable) => ({
  ApiId: API_ID,
  StageName: STAGE_NAME,
  BaseUrl: 'https://example.com',
  TableName: table.name,
  UsagePlanFreeId: PLAN_IDS.free,
  UsagePlanProfessionalId: PLAN_IDS.professional,
  HashSecretArn: SECRET_ARN,
  KeyPrefix: 'blk_live_',
  Version: '1.2.3',
  Commit: 'abcdef0',
});

/** The alarms in alarm state, as CloudWatch returns them for a prefix. */
const alarmsOf = ({ AlarmNamePrefix, StateValue }: Readonly<Record<string, string>>) => ({
  MetricAlarms: [{ AlarmName: `${AlarmNamePrefix}table-throttled`, StateValue }],
  CompositeAlarms: [],
});

const stackXml = (
  outputs: Readonly<Record<string, string>>,
) => `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>
<StackName>x</StackName><CreationTime>2026-11-21T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${Object.entries(
  outputs,
)
  .map(([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`)
  .join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;

const errorXml = (code: string, message: string) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

/** Responds as STS and CloudFormation, which use the query protocol. */
const respondToQuery = (
  body: string,
  outputs: Readonly<Record<string, string>>,
): readonly [number, string] => {
  const query = new URLSearchParams(body);
  if (query.get('Action') === 'GetCallerIdentity') {
    return [
      200,
      `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>${CALLER_ARN}</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`,
    ];
  }
  const name = query.get('StackName') ?? '';
  if (name === 'buyer-linking-forbidden-api') return [403, errorXml('AccessDenied', 'no')];
  if (name !== 'buyer-linking-prod-api')
    return [400, errorXml('ValidationError', `Stack with id ${name} does not exist`)];
  return [200, stackXml(outputs)];
};

/** Simulates the AWS services that the CLI calls, behind one URL for AWS_ENDPOINT_URL. Stop it in afterAll. */
export const startAwsDouble = async () => {
  const table = await startEmbeddedTable();
  const apiGateway = await openApiGateway({ accessKeyId: FIXED_ACCESS_KEY_ID, clock: systemClock });
  const outputs = outputsOf(table);

  const toTable = async (request: IncomingMessage, response: ServerResponse, body: string): Promise<void> => {
    const { host: _, ...headers } = request.headers;
    const onward = forward(table.endpoint, { method: 'POST', path: '/', headers });
    onward.end(body);
    const [reply] = (await once(onward, 'response')) as [IncomingMessage];
    response.writeHead(reply.statusCode ?? 500, reply.headers);
    reply.pipe(response);
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url !== '/') {
      send(response, await apiGateway.respondTo(request));
      return;
    }
    const body = await bodyOf(request);
    const target = String(request.headers['x-amz-target'] ?? '');
    if (target.startsWith('DynamoDB')) return toTable(request, response, body);
    if (target.endsWith('.DescribeAlarms')) {
      response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(alarmsOf(JSON.parse(body))));
      return;
    }
    if (target === 'secretsmanager.GetSecretValue') {
      response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify({ ARN: SECRET_ARN, SecretString: HASH_SECRET }));
      return;
    }
    const [status, xml] = respondToQuery(body, outputs);
    response.writeHead(status, { 'Content-Type': 'text/xml' }).end(xml);
  };

  const server = createServer((request, response) => void respond(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    table,
    /** The environment of a process that calls this instead of AWS. */
    environment: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: FIXED_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await table.stop();
    },
  };
};
