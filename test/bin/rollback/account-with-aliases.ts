import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** A published version. */
export interface Version {
  readonly modified: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** A function of the simulated account; `deployed` is the version of the stack. */
export interface SimulatedFunction {
  readonly description: string;
  readonly deployed: number;
  serving: number;
  revision: number;
  readonly versions: Map<number, Version>;
}

const arnOf = (name: string, qualifier: string | number): string =>
  `arn:aws:lambda:eu-central-1:111122223333:function:${name}:${qualifier}`;

/** The answers of CloudFormation, in the form of the Query protocol. */
const cloudFormation = (action: string, account: SimulatedAccount): string => {
  if (action === 'DescribeStacks') {
    return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>
      <StackName>s</StackName><StackStatus>${account.status}</StackStatus>
      <CreationTime>2026-01-01T00:00:00Z</CreationTime><LastUpdatedTime>${account.deployedAt}</LastUpdatedTime>
    </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  }
  const resources = Object.entries(account.functions).flatMap(([name, { deployed }]) => [
    ['AWS::Lambda::Alias', arnOf(name, 'live')],
    ['AWS::Lambda::Version', arnOf(name, deployed)],
    ['AWS::Lambda::Function', name],
  ]);
  const members = resources.map(
    ([type, id]) =>
      `<member><ResourceType>${type}</ResourceType><PhysicalResourceId>${id}</PhysicalResourceId></member>`,
  );
  return `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`;
};

const updateAlias = (of: SimulatedFunction, body: Record<string, unknown>): readonly [number, object] => {
  if (body.RevisionId !== String(of.revision)) return [412, { Message: 'The RevisionId is not the latest.' }];
  of.serving = Number(body.FunctionVersion);
  of.revision += 1;
  return [200, { FunctionVersion: String(of.serving), RoutingConfig: body.RoutingConfig }];
};

/** The answers of Lambda, in the form of its REST protocol. */
const lambda = async (request: IncomingMessage, account: SimulatedAccount) => {
  const url = new URL(request.url ?? '', 'http://localhost');
  const [, name = '', kind] = /^\/2015-03-31\/functions\/([^/]+)(?:\/(\w+))?/.exec(url.pathname) ?? [];
  const of = account.functions[name];
  if (of === undefined) return [404, { Message: 'no such function' }] as const;
  if (kind === 'versions') {
    const versions = [...of.versions].map(([version, { modified, variables = {} }]) => ({
      Version: String(version),
      Description: of.description,
      LastModified: modified,
      Environment: { Variables: variables },
      MemorySize: 512,
      Timeout: 10,
    }));
    return [200, { Versions: [{ ...versions.at(-1), Version: '$LATEST' }, ...versions] }] as const;
  }
  if (request.method === 'PUT') return updateAlias(of, JSON.parse(await text(request)));
  if (request.method === 'DELETE') {
    of.versions.delete(Number(url.searchParams.get('Qualifier')));
    return [204, {}] as const;
  }
  return [200, { FunctionVersion: String(of.serving), RevisionId: String(of.revision) }] as const;
};

export interface SimulatedAccount {
  status: string;
  deployedAt: string;
  readonly functions: Readonly<Record<string, SimulatedFunction>>;
}

/** Simulates CloudFormation and Lambda behind one URL, to which the SDK clients of this process are directed. */
export const startAccount = async (account: SimulatedAccount) => {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (request.url === '/') {
      const action = new URLSearchParams(await text(request)).get('Action') ?? '';
      return response.writeHead(200, { 'Content-Type': 'text/xml' }).end(cloudFormation(action, account));
    }
    const [status, body] = await lambda(request, account);
    return response
      .writeHead(status, { 'Content-Type': 'application/json' })
      .end(status === 204 ? undefined : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const before = { ...process.env };
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  });
  return {
    requests,
    stop() {
      process.env = before;
      server.closeAllConnections();
      server.close();
    },
  };
};
