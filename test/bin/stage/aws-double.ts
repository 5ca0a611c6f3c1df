import { once } from 'node:events';
import { createServer } from 'node:http';
import { FIXED_ACCESS_KEY_ID } from '#local/environment.ts';

/** The account of the simulated credentials. */
export const ACCOUNT = '111122223333';

const identity = `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>${ACCOUNT}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`;
const refused =
  '<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code><Message>expired</Message></Error></ErrorResponse>';

/** Simulates STS and Secrets Manager behind one URL. `secrets` are the names that exist. Stop it in afterAll. */
export const startAwsDouble = async () => {
  const state = { secrets: [] as readonly string[], isExpired: false };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    if (request.headers['x-amz-target'] === undefined) {
      response.writeHead(state.isExpired ? 403 : 200, { 'Content-Type': 'text/xml' });
      response.end(state.isExpired ? refused : identity);
      return;
    }
    const { SecretId } = JSON.parse(body) as { SecretId: string };
    const isFound = state.secrets.includes(SecretId);
    response.writeHead(isFound ? 200 : 400, { 'Content-Type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(isFound ? { Name: SecretId } : { __type: 'ResourceNotFoundException' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    state,
    /** The environment of a command that calls this instead of AWS. */
    environment: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: FIXED_ACCESS_KEY_ID,
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
