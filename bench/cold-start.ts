import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { newId } from '#admin/administration.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { bundleFunctions } from '#lib/bundling.ts';
import { localAdministration } from '#local/administration.ts';
import { ensureTable } from '#local/database.ts';
import { usagePlansTable } from '#local/usage-plans.ts';
import { writePages } from '#reference/pages/write-pages.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { userKey } from '#shared/table/keys.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { newDemoPerson } from '#test/simulators/people.ts';
import { startSimulators } from '#test/simulators/server.ts';
import {
  type Call,
  type RecordedCall,
  type Reply,
  recorder,
  replay,
  startCallServer,
} from './call-server.ts';
import { AN_HOUR_AGO, ROOT, SCOPES, startBenchDatabase, VARIABLES } from './harness.ts';
import { OPERATIONS, type Operation, type Round } from './operations.ts';
import { figure, interleave, median, numberOption, ratio, report } from './report.ts';

/**
 * `npm run bench:cold-start` compares the time from the start of a new process to its first response with that of a bare handler that
 * makes the same calls, for every operation. Option: `--rounds <n>`.
 */
const rounds = numberOption('rounds', 11);

const HASH_SECRET = JSON.stringify({ current: 'benchmark-'.repeat(5) });

/** The first request of a function, with its result and the calls that it made. */
interface Recording {
  readonly operation: Operation;
  readonly event: object;
  readonly calls: readonly RecordedCall[];
  readonly result: APIGatewayProxyResult;
}

type BenchDatabase = Awaited<ReturnType<typeof startBenchDatabase>>;
type Server = Awaited<ReturnType<typeof startCallServer>>;
/** Makes a request to the bundle of a file, in a new process. */
type Run = (file: string, event: object) => Promise<{ ms: number; result: APIGatewayProxyResult }>;

const main = async (): Promise<void> => {
  await using parts = new AsyncDisposableStack();
  // 1. In the project, so that the source of a bare handler finds the SDK.
  await mkdir(join(ROOT, '.build'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, '.build', 'bench-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  // 2. The functions as they are deployed.
  const names = new Set(OPERATIONS.map(({ name }) => name));
  const entries = Object.fromEntries([...names].map((name) => [name, join(ROOT, 'functions', `${name}.ts`)]));
  const own = await bundleFunctions({ outDir: join(folder, 'own'), entries });
  await writePages(VARIABLES.PAGES_FOLDER, { isLocal: false, support: null });
  // 3. The calls of the first request of each.
  const server = await startCallServer();
  parts.defer(server.close);
  const run = await runnerIn(folder, server);
  const ownFile = ({ name }: Operation) => join(own.folderOf(name), 'index.mjs');
  const recordings = await recordAll(server, (operation, event) => run(ownFile(operation), event));
  // 4. A bare handler that makes the same calls, as a project without our plugins would bundle it.
  const bareFile = await bundleBareHandlers(folder, recordings);
  // 5. Both in turns. One round more: the first one warms the disk cache and is not counted.
  const subjects = recordings.flatMap((recording) =>
    [ownFile(recording.operation), bareFile(recording)].map((file) => ({ ...recording, file })),
  );
  const times = await interleave(subjects, rounds + 1, async ({ file, event, calls }) => {
    server.respondBy(replay(calls));
    return (await run(file, event)).ms;
  });
  const medians = [...times.values()].map((ms) => median(ms.slice(1)));
  const rows = recordings.map(async ({ operation }) => {
    const [ownMs = 0, bareMs = 0] = medians.splice(0, 2);
    const kilobytes = (await stat(ownFile(operation))).size / 1000;
    return [
      operation.title,
      ...[kilobytes, ownMs, bareMs].map((value) => figure(value)),
      ratio(ownMs, bareMs),
    ];
  });
  const title = `Medians of ${rounds} new processes each, in turns, Node ${process.versions.node}, TLS.`;
  report(title, [['operation', 'KB', 'response ms', 'bare ms', '× bare'], ...(await Promise.all(rows))]);
};

/** The program of a new process: loads the bundle, makes the first request and prints time and result after the log of the function. */
const PROGRAM = `
const [file, event] = process.argv.slice(1);
const { handler } = await import(file);
const result = await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 20000 });
const ms = performance.now();
if ((result.statusCode ?? 200) >= 300) throw new Error(result.body);
process.stdout.write('\\n' + JSON.stringify({ ms, result }), () => process.exit());`;

/** Returns what runs a bundle in a new process whose calls go to the server. `ms`: from the start of the process to its response. */
const runnerIn = async (folder: string, { url, cert }: Server): Promise<Run> => {
  const certFile = join(folder, 'cert.pem');
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
    HOME: folder,
  };
  return async (file, event) => {
    const args = ['--input-type=module', '-e', PROGRAM, file, JSON.stringify(event)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    return JSON.parse(stdout.split('\n').at(-1) ?? '');
  };
};

/** Makes the first request of every operation, with a database, simulated providers and a seller, and records its calls. */
const recordAll = async (
  server: Server,
  run: (operation: Operation, event: object) => ReturnType<Run>,
): Promise<Recording[]> => {
  const [database, simulators] = await Promise.all([startBenchDatabase(), startSimulators()]);
  const providerSecret = JSON.stringify(simulators.providerSecret).replaceAll(
    'http://127.0.0.1:',
    `${server.url}/`,
  );
  const secrets = { 'hash-secret': HASH_SECRET, 'provider-secret': providerSecret };
  const round = await newRound(database, (phone) => simulators.messages(phone)[0]?.code ?? '');
  const recordings: Recording[] = [];
  for (const operation of OPERATIONS) {
    if (operation.needsOldCheck) await ageCheck(database, round);
    const { respond, recorded } = recorder(upstreams(database.url, secrets));
    server.respondBy(respond);
    const event = operation.event(round);
    const { result } = await run(operation, event);
    learn(operation, result, round);
    recordings.push({ operation, event, calls: recorded(), result });
  }
  await Promise.all([simulators.close(), database.stop()]);
  return recordings.filter(({ operation }) => !operation.isPreparation);
};

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Responds as KMS does, with a key of this process. */
const callKms = (operation: string, { Message }: { readonly Message: string }) =>
  operation === 'Sign'
    ? { Signature: sign('sha256', Buffer.from(Message, 'base64'), privateKey).toString('base64') }
    : { PublicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64') };

const awsReply = (output: object): Reply => ({
  status: 200,
  type: 'application/x-amz-json-1.0',
  body: JSON.stringify(output),
});

/** Passes a call on to a server. */
const passOn = async (url: string, { method, headers, body }: Call): Promise<Reply> => {
  const { connection: _, ...kept } = headers;
  const response = await fetch(url, { method, headers: kept, ...(body && { body }) });
  const type = response.headers.get('content-type') ?? 'application/json';
  return { status: response.status, type, body: await response.text() };
};

/** Returns what replies to the calls of a recorded request. A path `/<port>/…` is a call to the provider on that port. */
const upstreams =
  (databaseUrl: string, secrets: Readonly<Record<string, string>>) =>
  async (call: Call): Promise<Reply> => {
    const [service, operation = ''] = (call.target ?? '').split('.');
    if (service === 'TrentService') return awsReply(callKms(operation, JSON.parse(call.body)));
    if (service === 'secretsmanager')
      return awsReply({ SecretString: secrets[JSON.parse(call.body).SecretId] });
    if (call.target !== undefined) return passOn(databaseUrl, call);
    const [, port, ...path] = call.path.split('/');
    return passOn(`http://127.0.0.1:${port}/${path.join('/')}`, call);
  };

/** A new seller with more users than a page has, its key, and a registered buyer. `codeFor`: returns the last code that a phone got. */
const newRound = async (
  { table, addSeller }: BenchDatabase,
  codeFor: (phone: string) => string,
): Promise<Round> => {
  const sellerId = newId('sel');
  await addSeller(sellerId, { linked: 24 });
  await ensureTable(usagePlansTable(table));
  const wanted = { sellerId, name: 'bench', plan: 'professional', scopes: SCOPES } as const;
  const { key, secret } = await issueKey(localAdministration(table, 'local:bench'), wanted);
  const person = newDemoPerson();
  const hashes = keyedHashesFrom({ read: async () => HASH_SECRET });
  const [phoneHash, buyerId] = await Promise.all([hashes.phone(person.phone), hashes.buyerId(person.phone)]);
  await buyerStore(table).register(phoneHash.current, buyerId, new Date().toISOString());
  const code = () => codeFor(person.phone);
  return { sellerId, apiKey: secret, keyId: key.key_id, person, code, userId: '', linkId: '' };
};

const ageCheck = async (
  { table: { client, name: TableName } }: BenchDatabase,
  { sellerId, userId }: Round,
): Promise<void> => {
  const update = {
    TableName,
    Key: userKey(sellerId, Number(ordinalOf(userId))),
    UpdateExpression: 'SET checked_at = :at',
    ExpressionAttributeValues: { ':at': AN_HOUR_AGO },
  };
  await client.send(new UpdateCommand(update));
};

/** Notes in the round what later requests need of a response. */
const learn = ({ name }: Operation, { body }: APIGatewayProxyResult, round: Round): void => {
  if (name === 'create-user') round.userId = JSON.parse(body).id;
  if (name === 'verify-otp') round.token = JSON.parse(body).access_token;
  if (name === 'find-links') round.linkId = JSON.parse(body).data[0].id;
};

const CLIENTS = {
  DynamoDB_20120810: ['@aws-sdk/client-dynamodb', 'DynamoDBClient'],
  secretsmanager: ['@aws-sdk/client-secrets-manager', 'SecretsManagerClient'],
  TrentService: ['@aws-sdk/client-kms', 'KMSClient'],
} as const;

const serviceOf = ({ target = '' }: Call) => target.split('.')[0] as keyof typeof CLIENTS;
const commandOf = ({ target = '' }: Call): string => `${target.split('.')[1]}Command`;

/** The source of one call: by the SDK, or by fetch to a provider. */
const sourceOf = (call: Call): string => {
  const { target, method, path, headers, body } = call;
  if (target !== undefined) {
    const input = body.replace(/"Message":("[^"]+")/, '"Message":Buffer.from($1,"base64")');
    return `() => ${serviceOf(call)}.send(new ${commandOf(call)}(${input}))`;
  }
  const options = JSON.stringify({ method, headers, ...(body === '' ? {} : { body }) });
  return `() => fetch(process.env.AWS_ENDPOINT_URL + ${JSON.stringify(path)}, ${options}).then((r) => r.json())`;
};

/**
 * Returns the source of the bare handler that a function is compared with: it makes the recorded calls of the function with plain SDK
 * clients, in the same round trips, and returns the recorded result. It has no framework, validation, hashes or log.
 */
const bareHandler = ({ calls, result }: Recording): string => {
  const aws = calls.filter(({ target }) => target !== undefined);
  const clients = [...Map.groupBy(aws, serviceOf)].map(([service, own]) => {
    const [module, client] = CLIENTS[service];
    const imports = [client, ...new Set(own.map(commandOf))];
    return `import { ${imports.join(', ')} } from '${module}';\nconst ${service} = new ${client}({});`;
  });
  const roundTrips = [...Map.groupBy(calls, ({ roundTrip }) => roundTrip).values()];
  return `${clients.join('\n')}
    export const handler = async () => {
      ${roundTrips.map((group) => `await Promise.all([${group.map(sourceOf).join(',\n')}].map((call) => call()));`).join('\n')}
      return ${JSON.stringify(result)};
    };`;
};

/** Bundles a bare handler for each recording. Returns what finds the file of one. */
const bundleBareHandlers = async (folder: string, recordings: readonly Recording[]) => {
  const nameOf = (recording: Recording) => `bare-${recordings.indexOf(recording)}`;
  const entries: Record<string, string> = {};
  for (const recording of recordings) {
    const source = join(folder, `${nameOf(recording)}.mjs`);
    await writeFile(source, bareHandler(recording));
    entries[nameOf(recording)] = source;
  }
  const { folderOf } = await bundleFunctions({ outDir: join(folder, 'bare'), entries, plugins: [] });
  return (recording: Recording): string => join(folderOf(nameOf(recording)), 'index.mjs');
};

await main();
