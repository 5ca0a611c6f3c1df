import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { newId } from '#admin/administration.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { type Bundles, bundleFunctions } from '#lib/bundling.ts';
import { addSite, builtSite } from '#lib/site.ts';
import { localAdministration } from '#local/administration.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import type { VariableName } from '#shared/env.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { userKey } from '#shared/table/keys.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { newDemoPerson } from '#test/simulators/people.ts';
import { startSimulators } from '#test/simulators/server.ts';
import { bareHandler } from './bare-handler.ts';
import { type Call, type CallServer, type RoundTrips, recorder, replay, startCallServer } from './calls.ts';
import {
  AN_HOUR_AGO,
  benchUserId,
  figure,
  interleave,
  median,
  putSeller,
  received,
  report,
  type Sent,
  startBenchDatabase,
  TABLE_NAME,
} from './harness.ts';

/**
 * `npm run bench:cold-start` compares the time from the start of a new process to its first response with that of a bare handler that
 * makes the same calls, for every operation. Option: `--rounds <n>`.
 */
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '11' } } });
const rounds = Number(values.rounds);

/** In the project, so that the source of a bare handler finds the SDK. */
const FOLDER = join(import.meta.dirname, '..', '.build', 'bench');

const main = async (): Promise<void> => {
  // 1. The functions as they are deployed.
  const own = await bundleFunctions({ outDir: join(FOLDER, 'own') });
  addSite(await builtSite(console.log), own.folderOf('get-docs'));
  // 2. The first request of each operation, with its calls.
  await using server = await startCallServer();
  const run = await runnerWith(server);
  const recordings = await recordAll(server, (name, event) => run(own.folderOf(name), event));
  // 3. A bare handler that makes the same calls, as a project without our plugins would bundle it.
  const bare = await bundleBareHandlers(recordings);
  // 4. Both in turns. One round more: the first one warms the disk cache and is not counted.
  const rows: Readonly<Record<string, string>>[] = [];
  for (const [index, { title, name, event, roundTrips }] of recordings.entries()) {
    const bundles = [own.folderOf(name), bare.folderOf(`bare-${index}`)];
    const times = await interleave(bundles, rounds + 1, async (bundle) => {
      server.respond = replay(roundTrips);
      return (await run(bundle, event)).ms;
    });
    const [ownMs = 0, bareMs = 0] = [...times.values()].map((ms) => median(ms.slice(1)));
    const { size } = await stat(join(own.folderOf(name), 'index.mjs'));
    rows.push({
      operation: title,
      KB: figure(size / 1000),
      'response ms': figure(ownMs),
      'bare ms': figure(bareMs),
      '× bare': figure(ownMs / bareMs, 2),
    });
  }
  report(`Medians of ${rounds} new processes each, in turns, Node ${process.versions.node}, TLS.`, rows);
};

/** The program of a new process: loads the bundle, makes the first request and prints time and result after the log of the function. */
const PROGRAM = `
const [file, event] = process.argv.slice(1);
const { handler } = await import(file);
const result = await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 20000 });
const ms = performance.now();
if ((result.statusCode ?? 200) >= 300) throw new Error(result.body);
process.stdout.write('\\n' + JSON.stringify({ ms, result }), () => process.exit());`;

/** The environment of the functions: the variables that the stacks set, and those of Lambda. */
const VARIABLES: Readonly<Partial<Record<VariableName, string>>> = {
  TABLE_NAME,
  HASH_SECRET: 'hash-secret',
  PROVIDER_SECRET: 'provider-secret',
  IDENTITY_PROVIDERS: 'jibit,zohal',
  SMS_PROVIDERS: 'kavenegar,sms-ir',
  SIGNING_KEYS: 'signing-key',
  TOKEN_ISSUERS: 'https://bench.example',
  KEY_PREFIX: 'blk_test_',
  OTP_ACCESS: 'api-key',
  RELEASE_VERSION: '1.0.0',
  RELEASE_COMMIT: 'bench',
};

/** Makes a request to a bundled function, in a new process. `ms`: from the start of the process to its response. */
type Run = (folder: string, event: object) => Promise<{ ms: number; result: APIGatewayProxyResult }>;

/** Returns what runs a bundle in a new process whose calls go to the server. */
const runnerWith = async ({ url, cert }: CallServer): Promise<Run> => {
  const certFile = join(FOLDER, 'cert.pem');
  await writeFile(certFile, cert);
  const env = {
    ...VARIABLES,
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_ENDPOINT_URL: url,
    NODE_EXTRA_CA_CERTS: certFile,
    // Hides the AWS profiles of this machine: Lambda has none.
    HOME: FOLDER,
  };
  return async (bundle, event) => {
    const args = ['--input-type=module', '-e', PROGRAM, join(bundle, 'index.mjs'), JSON.stringify(event)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    return JSON.parse(stdout.split('\n').at(-1) ?? '');
  };
};

const HASH_SECRET = JSON.stringify({ current: 'benchmark-'.repeat(5) });

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Responds as KMS does, with a key of this process. */
const callKms = (operation: string, { Message }: { readonly Message: string }) =>
  operation === 'Sign'
    ? { Signature: sign('sha256', Buffer.from(Message, 'base64'), privateKey).toString('base64') }
    : { PublicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64') };

/** Passes a call on to a server. */
const passOn = async (url: string, { method, headers, body }: Call): Promise<string> => {
  const response = await fetch(url, { method, headers, ...(body && { body }) });
  if (!response.ok) throw new Error(`${url} responds with ${response.status}`);
  return response.text();
};

/** Starts what the functions call: a database, simulated providers, Secrets Manager and KMS. */
const startUpstreams = async (server: CallServer) => {
  const database = await startBenchDatabase();
  const simulators = await startSimulators();
  const providerSecret = JSON.stringify(simulators.providerSecret);
  const secrets: Readonly<Record<string, string>> = {
    'hash-secret': HASH_SECRET,
    'provider-secret': providerSecret.replaceAll('http://127.0.0.1:', `${server.url}/`),
  };
  return {
    table: database.table,
    messages: simulators.messages,
    /** A path `/<port>/…` is a call to the provider on that port. */
    async respond(call: Call): Promise<string> {
      const [service, operation = ''] = call.target?.split('.') ?? [];
      if (service === 'TrentService') return JSON.stringify(callKms(operation, JSON.parse(call.body)));
      if (service === 'secretsmanager')
        return JSON.stringify({ SecretString: secrets[JSON.parse(call.body).SecretId] });
      if (service !== undefined) return passOn(database.endpoint, call);
      const [, port, ...path] = call.path.split('/');
      return passOn(`http://127.0.0.1:${port}/${path.join('/')}`, call);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([simulators.close(), database[Symbol.asyncDispose]()]);
    },
  };
};

/** The first request of an operation. */
interface FirstRequest {
  /** The row of the table of results. */
  readonly title: string;
  /** The name of the function. */
  readonly name: string;
  readonly event: object;
}

/** A request with the calls and the result of its function. */
interface Recording extends FirstRequest {
  readonly roundTrips: RoundTrips;
  readonly result: APIGatewayProxyResult;
}

/** Makes the first request of every operation and records its calls. Each finds what those before it have stored. */
const recordAll = async (server: CallServer, run: Run): Promise<Recording[]> => {
  await using upstreams = await startUpstreams(server);
  const recordings: Recording[] = [];
  const record = async (request: FirstRequest): Promise<APIGatewayProxyResult> => {
    const { respond, roundTrips } = recorder(upstreams.respond);
    server.respond = respond;
    const { result } = await run(request.name, request.event);
    recordings.push({ ...request, roundTrips, result });
    return result;
  };
  const seller = await newSeller(upstreams.table);
  const send = (title: string, sent?: Partial<Sent>) => record(requestOf(title, { ...seller, ...sent }));

  const methodArn = 'arn:aws:execute-api:us-east-1:000000000000:bench/bench/GET/v1/users';
  const toAuthorize = { ...requestOf('GET /v1/users', seller).event, type: 'REQUEST', methodArn };
  await record({ title: 'authorizer', name: 'authorizer', event: toAuthorize });
  const person = newDemoPerson();
  const { national_id, birth_date, phone } = person;
  await registerBuyer(upstreams.table, phone);
  const linked = await send('POST /v1/users, new link', { body: person });
  const { id } = JSON.parse(linked.body);
  const user = `/v1/users/${id}`;
  await send('POST /v1/users, existing link', { body: person });
  await send('GET /v1/users');
  await send('GET /v1/users?phone', { target: `/v1/users?phone=${encodeURIComponent(phone)}` });
  await send('GET /v1/users/{id}', { target: user });
  await send('PATCH /v1/users/{id}', { target: user, body: { display_name: 'Sara Karimi' } });
  await ageCheck(upstreams.table, seller.sellerId, id);
  const claim = { national_id, birth_date };
  await send('POST /v1/users/{id}/checks', { target: `${user}/checks`, body: { ...claim, phone } });
  await send('POST /v1/auth/otp/send', { body: { phone } });
  const code = upstreams.messages(phone)[0]?.code;
  const verified = await send('POST /v1/auth/otp/verify', { body: { phone, code } });
  const headers = { Authorization: `Bearer ${JSON.parse(verified.body).access_token}` };
  const found = await send('POST /v1/buyer/links/find', { headers, body: claim });
  const [link] = JSON.parse(found.body).data;
  await send('DELETE /v1/users/{id}', { target: `/v1/users/${benchUserId(1)}` });
  await send('DELETE /v1/buyer/links/{id}', { headers, target: `/v1/buyer/links/${link.id}` });
  await send('GET /v1/events');
  await send('GET /v1/key');
  await send('GET /v1/key/usage');
  await send('POST /v1/key/secrets', { body: { grace_hours: 24 } });
  await send('GET /.well-known/jwks.json');
  await send('GET /.well-known/openid-configuration');
  await send('GET /v1/openapi.json');
  await send('GET /docs');
  return recordings;
};

/** Returns the request of a title, which begins with the method and the path. `target`: the path with its values and its query. */
const requestOf = (title: string, sent: Pick<Sent, 'sellerId' | 'keyId'> & Partial<Sent>): FirstRequest => {
  const [, method = '', path = ''] = /^([A-Z]+) ([^?,]+)/.exec(title) ?? [];
  const { route, event } = received({ method, target: path, ...sent });
  return { title, name: route.name, event };
};

/** Creates a seller with more users than a page has, and its key. */
const newSeller = async (table: Table) => {
  const sellerId = newId('sel');
  await putSeller(table, sellerId, 24);
  const scopes = ['users:read', 'users:write', 'events:read', 'key:rotate'] as const;
  const wanted = { sellerId, name: 'bench', plan: 'professional', scopes } as const;
  const { key, secret } = await issueKey(localAdministration(table, 'local:bench'), wanted);
  return { sellerId, keyId: key.key_id, headers: { 'X-Api-Key': secret } };
};

const registerBuyer = async (table: Table, phone: string): Promise<void> => {
  const hashes = keyedHashesFrom({ read: async () => HASH_SECRET });
  const phoneHash = await hashes.phone(phone);
  await buyerStore(table).register(phoneHash.current, await hashes.buyerId(phone), AN_HOUR_AGO);
};

/** Makes the last check of a user older than the time in which a check is not made again. */
const ageCheck = async ({ client, name: TableName }: Table, sellerId: string, id: string): Promise<void> => {
  const update = {
    TableName,
    Key: userKey(sellerId, Number(ordinalOf(id))),
    UpdateExpression: 'SET checked_at = :at',
    ExpressionAttributeValues: { ':at': AN_HOUR_AGO },
  };
  await client.send(new UpdateCommand(update));
};

/** Bundles a bare handler for each recording: `bare-0`, `bare-1` and so on. */
const bundleBareHandlers = async (recordings: readonly Recording[]): Promise<Bundles> => {
  const entries: Record<string, string> = {};
  for (const [index, { roundTrips, result }] of recordings.entries()) {
    const source = join(FOLDER, `bare-${index}.mjs`);
    await writeFile(source, bareHandler(roundTrips, result));
    entries[`bare-${index}`] = source;
  }
  return bundleFunctions({ outDir: join(FOLDER, 'bare'), entries, plugins: [] });
};

await main();
