import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { LOCAL_CREDENTIALS, STAGE_NAME } from '#local/environment.ts';
import { respond } from '#local/gateway/proxy-event.ts';
import { API_ID, PLAN_IDS } from '#test/simulators/api-gateway/identifiers.ts';
import { openApiGateway } from '#test/simulators/api-gateway/simulator.ts';
import type { TestTable } from '#test/table/use-table.ts';

/** The account of the simulated credentials. */
export const ACCOUNT = '111122223333';

/** What a test can change in the account. */
interface Account {
  /** The texts of the secrets by name or ARN. */
  readonly secrets: Map<string, string>;
  /** An expired session gets no identity from STS, and one that may not read gets no stack. */
  readonly session: { isExpired: boolean; mayRead: boolean };
  /** The versions to which somebody moved the alias of a function, by its name. */
  readonly movedAliases: Map<string, string>;
  /** The outputs of the stack buyer-linking-prod-api; undefined if it does not exist. */
  readonly outputs: Readonly<Record<string, string>> | undefined;
}

const SECRET_ARN = `arn:aws:secretsmanager:eu-central-1:${ACCOUNT}:secret:hash`;
const HASH_SECRET = JSON.stringify({ current: 'a secret of a test, of forty characters!' });

const outputsOf = (table: TestTable) => ({
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

const reply = (statusCode: number, type: string, body: string): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': type },
  body,
});

const xml = (statusCode: number, body: string) => reply(statusCode, 'text/xml', body);

const errorXml = (statusCode: number, code: string, message: string) =>
  xml(
    statusCode,
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  );

const sts = ({ session }: Account): APIGatewayProxyResult =>
  session.isExpired
    ? errorXml(403, 'ExpiredToken', 'expired')
    : xml(
        200,
        `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>${ACCOUNT}</Account><Arn>arn:aws:sts::${ACCOUNT}:assumed-role/admin/sara</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`,
      );

const cloudFormation = ({ outputs, session }: Account, stack: string): APIGatewayProxyResult => {
  if (!session.mayRead) return errorXml(403, 'AccessDenied', 'no');
  if (stack !== 'buyer-linking-prod-api' || outputs === undefined)
    return errorXml(400, 'ValidationError', `Stack with id ${stack} does not exist`);
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return xml(
    200,
    `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>x</StackName><CreationTime>2026-11-21T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
  );
};

const FUNCTION_ARN = `arn:aws:lambda:eu-central-1:${ACCOUNT}:function`;

/** The functions of the stack, with the version that the stack made. */
const VERSIONS = { 'list-users': '12', 'get-user': '7' } as const;

const stackResources = (): APIGatewayProxyResult => {
  const member = (type: string, id: string) =>
    `<member><LogicalResourceId>x</LogicalResourceId><PhysicalResourceId>${id}</PhysicalResourceId><ResourceType>AWS::Lambda::${type}</ResourceType><LastUpdatedTimestamp>2026-11-21T00:00:00Z</LastUpdatedTimestamp><ResourceStatus>CREATE_COMPLETE</ResourceStatus></member>`;
  const members = Object.entries(VERSIONS).flatMap(([name, version]) => [
    member('Function', name),
    member('Version', `${FUNCTION_ARN}:${name}:${version}`),
    member('Alias', `${FUNCTION_ARN}:${name}:live`),
  ]);
  return xml(
    200,
    `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`,
  );
};

/** GetAlias of Lambda. */
const aliasOf = ({ movedAliases }: Account, url: string): APIGatewayProxyResult => {
  const [, name = ''] = /^\/2015-03-31\/functions\/([^/]+)\/aliases\/live$/.exec(url) ?? [];
  const FunctionVersion = movedAliases.get(name) ?? VERSIONS[name as keyof typeof VERSIONS];
  return reply(200, 'application/json', JSON.stringify({ Name: 'live', FunctionVersion }));
};

/** The alarms in alarm state for a prefix. */
const cloudWatch = ({ AlarmNamePrefix, StateValue }: Readonly<Record<string, string>>) =>
  reply(
    200,
    'application/x-amz-json-1.0',
    JSON.stringify({
      MetricAlarms: [{ AlarmName: `${AlarmNamePrefix}server-errors`, StateValue }],
      CompositeAlarms: [],
    }),
  );

const secretsManager = (
  { secrets }: Account,
  action: string,
  sent: Readonly<Record<string, string>>,
): APIGatewayProxyResult => {
  const name = sent.SecretId ?? sent.Name ?? '';
  const isCreation = action === 'CreateSecret';
  const json = (status: number, body: object) =>
    reply(status, 'application/x-amz-json-1.1', JSON.stringify(body));
  if (!isCreation && !secrets.has(name)) return json(400, { __type: 'ResourceNotFoundException' });
  if (isCreation && secrets.has(name)) return json(400, { __type: 'ResourceExistsException' });
  if (sent.SecretString !== undefined) secrets.set(name, sent.SecretString);
  return json(200, { Name: name, SecretString: secrets.get(name) });
};

/** Returns the response of the service that a request is for. STS and CloudFormation use the query protocol, the others JSON. */
const resultOf = (account: Account, target: string, body: string): APIGatewayProxyResult => {
  const [service = '', action = ''] = target.split('.');
  if (service === 'secretsmanager') return secretsManager(account, action, JSON.parse(body));
  if (action === 'DescribeAlarms') return cloudWatch(JSON.parse(body));
  const query = new URLSearchParams(body);
  if (query.get('Action') === 'GetCallerIdentity') return sts(account);
  if (query.get('Action') === 'ListStackResources') return stackResources();
  return cloudFormation(account, query.get('StackName') ?? '');
};

const passOn = async (endpoint: string, { headers }: IncomingMessage, body: string) => {
  const { host: _, ...kept } = headers;
  const onward = forward(endpoint, { method: 'POST', path: '/', headers: kept });
  onward.end(body);
  const [received] = (await once(onward, 'response')) as [IncomingMessage];
  return received;
};

/**
 * Simulates the services of an AWS account behind one URL for AWS_ENDPOINT_URL. With a table the account has a stage prod on it. Stop it in
 * afterAll.
 */
export const startAccountDouble = async (table?: TestTable) => {
  const account: Account = {
    secrets: new Map(table === undefined ? [] : [[SECRET_ARN, HASH_SECRET]]),
    session: { isExpired: false, mayRead: true },
    movedAliases: new Map(),
    outputs: table && outputsOf(table),
  };
  const apiGateway = openApiGateway();

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url?.startsWith('/2015-03-31/')) return respond(response, aliasOf(account, request.url));
    if (request.url !== '/') return respond(response, await apiGateway.respondTo(request));
    const body = await text(request);
    const target = String(request.headers['x-amz-target'] ?? '');
    if (table === undefined || !target.startsWith('DynamoDB'))
      return respond(response, resultOf(account, target, body));
    const received = await passOn(table.endpoint, request, body);
    response.writeHead(received.statusCode ?? 500, received.headers);
    received.pipe(response);
  };

  const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    secrets: account.secrets,
    session: account.session,
    movedAliases: account.movedAliases,
    /** The environment of a command that calls this instead of AWS. */
    environment: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
};
