import { once } from 'node:events';
import { createServer } from 'node:http';

const IDENTITY =
  '<GetCallerIdentityResponse><GetCallerIdentityResult><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>';

/** Simulates STS and Secrets Manager behind one URL. `secrets`: the texts by name. Stop it in afterAll. */
export const startSecretsDouble = async () => {
  const secrets = new Map<string, string>();
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
      return response.writeHead(200, { 'Content-Type': 'text/xml' }).end(IDENTITY);
    const [status, body] = respond(action, JSON.parse(Buffer.concat(chunks).toString()));
    return response
      .writeHead(status, { 'Content-Type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    secrets,
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
