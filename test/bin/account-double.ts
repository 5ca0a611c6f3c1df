import { once } from 'node:events';
import { createServer } from 'node:http';

/** The account of the simulated credentials. */
export const ACCOUNT = '111122223333';

const IDENTITY = `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>${ACCOUNT}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`;
const EXPIRED =
  '<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code><Message>expired</Message></Error></ErrorResponse>';

/** Simulates STS and Secrets Manager behind one URL. `secrets`: the texts by name. Stop it in afterAll. */
export const startAccountDouble = async () => {
  const secrets = new Map<string, string>();
  const session = { isExpired: false };
  const respond = (action: string, sent: Record<string, string>): readonly [number, object] => {
    const name = sent.SecretId ?? sent.Name ?? '';
    const isCreation = action === 'CreateSecret';
    if (!isCreation && !secrets.has(name)) return [400, { __type: 'ResourceNotFoundException' }];
    if (isCreation && secrets.has(name)) return [400, { __type: 'ResourceExistsException' }];
    if (sent.SecretString !== undefined) secrets.set(name, sent.SecretString);
    return [200, { Name: name, SecretString: secrets.get(name) }];
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const [service, action = ''] = String(request.headers['x-amz-target'] ?? '').split('.');
    if (service !== 'secretsmanager')
      return response
        .writeHead(session.isExpired ? 403 : 200, { 'Content-Type': 'text/xml' })
        .end(session.isExpired ? EXPIRED : IDENTITY);
    const [status, body] = respond(action, JSON.parse(Buffer.concat(chunks).toString()));
    return response
      .writeHead(status, { 'Content-Type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    secrets,
    session,
    /** The environment of a command that calls this instead of AWS. */
    environment: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
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
