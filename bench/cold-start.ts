import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import selfsigned from 'selfsigned';
import { bundleFunctions } from '#lib/bundling.ts';
import { type Call, listen, operationOf, SERVER } from './harness/recorder.ts';
import {
  type RecordedRequest,
  type Recording,
  ROOT,
  recordOperations,
  VARIABLES,
} from './harness/recording.ts';
import { figure, interleave, median, option, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:cold-start` compares the time from the start of a new process to its first response with that of a bare handler that
 * makes the same calls, for every operation. Options: `--rounds <n>`, `--only <part of an operation>`.
 */
const rounds = Number(option('rounds') ?? 11);
const only = option('only') ?? '';

const main = async (): Promise<void> => {
  const recordings = (await recordOperations()).filter(({ operation }) => operation.title.includes(only));
  // In the project, so that the source of a bare handler finds the SDK.
  await mkdir(join(ROOT, '.build'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, '.build', 'bench-'));
  const server = await startReplay();
  try {
    const environment = await environmentIn(folder, server);
    const pairs = await Promise.all(recordings.map((recording) => bundlePair(folder, recording)));
    const firstResponse = ({ file, request }: Subject): Promise<number> => {
      server.replay(request.calls);
      return timeToFirstResponse(file, request.event, environment);
    };
    // One round more: the first one warms the disk cache and is not counted.
    const subjects = pairs.flatMap(({ own, bare }) => [own, bare]);
    const times = await interleave(subjects, rounds + 1, firstResponse);
    const medianOf = (subject: Subject): number => median((times.get(subject) ?? []).slice(1));
    report(
      'cold-start',
      `Medians of ${rounds} new processes each, in turns, Node ${process.versions.node}, TLS.`,
      [
        ['operation', 'KB', 'response ms', 'bare ms', '× bare'],
        ...pairs.map(({ title, own, bare }) => [
          title,
          ...[own.bytes / 1000, medianOf(own), medianOf(bare)].map((value) => figure(value)),
          ratio(medianOf(own), medianOf(bare)),
        ]),
      ],
    );
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
};

/** A bundle and the first request that is made to it, whose calls are replayed. */
interface Subject {
  readonly request: RecordedRequest;
  readonly file: string;
  readonly bytes: number;
}

/** Bundles the function of a recording as it is deployed, and its bare handler as a project without our plugins would. */
const bundlePair = async (folder: string, { operation: { name, title }, first }: Recording) => {
  const bundle = async (kind: 'own' | 'bare', source: string): Promise<Subject> => {
    const outDir = await mkdtemp(join(folder, `${kind}-`));
    const plugins = kind === 'bare' ? { plugins: [] } : {};
    const { folderOf } = await bundleFunctions({ outDir, entries: { [name]: source }, ...plugins });
    const file = join(folderOf(name), 'index.mjs');
    return { request: first, file, bytes: (await stat(file)).size };
  };
  const bareSource = join(await mkdtemp(join(folder, 'source-')), 'bare.mjs');
  await writeFile(bareSource, bareHandler(first));
  return {
    title,
    own: await bundle('own', join(ROOT, 'functions', `${name}.ts`)),
    bare: await bundle('bare', bareSource),
  };
};

const CLIENTS = {
  DynamoDB_20120810: ['@aws-sdk/client-dynamodb', 'DynamoDBClient'],
  secretsmanager: ['@aws-sdk/client-secrets-manager', 'SecretsManagerClient'],
  TrentService: ['@aws-sdk/client-kms', 'KMSClient'],
} as const;

const serviceOf = ({ target = '' }: Call) => target.split('.')[0] as keyof typeof CLIENTS;

/** The source of one call: by the SDK, or by fetch to a provider. */
const sourceOf = (call: Call): string => {
  if (call.target !== undefined) {
    const input = call.body.replace(/"Message":("[^"]+")/, '"Message":Buffer.from($1,"base64")');
    return `() => ${serviceOf(call)}.send(new ${operationOf(call)}Command(${input}))`;
  }
  const { method, path, headers, body } = call;
  const options = JSON.stringify({ method, headers, ...(body === '' ? {} : { body }) });
  return `() => fetch(process.env.AWS_ENDPOINT_URL + ${JSON.stringify(path)}, ${options}).then((r) => r.json())`;
};

/**
 * Returns the source of the bare handler that a function is compared with: it makes the recorded calls of the function with plain SDK
 * clients, in the same round trips, and returns the recorded result. It has no framework, validation, hashes or log.
 */
const bareHandler = ({ calls, result }: RecordedRequest): string => {
  const aws = calls.filter(({ target }) => target !== undefined);
  const clients = [...Map.groupBy(aws, serviceOf)].map(([service, own]) => {
    const [module, client] = CLIENTS[service];
    const commands = new Set(own.map((call) => `${operationOf(call)}Command`));
    return `import { ${[client, ...commands].join(', ')} } from '${module}';\nconst ${service} = new ${client}({});`;
  });
  const roundTrips = [...Map.groupBy(calls, ({ roundTrip }) => roundTrip).values()];
  return `${clients.join('\n')}
    export const handler = async () => {
      ${roundTrips.map((group) => `await Promise.all([${group.map(sourceOf).join(',\n')}].map((call) => call()));`).join('\n')}
      return ${JSON.stringify(result)};
    };`;
};

/** What calls of two runs have in common: the operation and the kinds of items, but no ids, times or tokens. */
const signatureOf = ({ target, method, path, body }: Pick<Call, 'target' | 'method' | 'path' | 'body'>) =>
  target === undefined
    ? `${method} ${path.split('?')[0]}`
    : [target, ...(body.match(/"(?:[A-Z]+#|[a-z-]+-secret")/g) ?? [])].join(' ');

/** The ids in the values of a call to the database, such as the random one by which a write finds itself in a response. */
const idsIn = (body: string): string[] => body.match(/(?<=\{"S":")[\w-]{12,}(?="\})/g) ?? [];

/** Returns the body of the recorded response with the ids of this call in place of those of the recorded one. */
const withIdsOf = (body: string, { body: recordedBody, response }: Call): string =>
  idsIn(body).reduce(
    (reply, id, index) => reply.replaceAll(idsIn(recordedBody)[index] ?? id, id),
    response.body,
  );

/**
 * Starts a server that responds to each call as it was recorded, at once, so that only the caller is measured. Equal calls get their
 * recorded responses in turns. It uses TLS: with an http:// endpoint the SDK would load modules that it does not need on AWS.
 */
const startReplay = async () => {
  const { cert, private: key } = selfsigned.generate([{ name: 'commonName', value: 'bench' }], {
    days: 1,
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const recorded = new Map<string, Call[]>();
  const replying = createServer({ cert, key }, async (request, response) => {
    const { headers, method = '', url: path = '' } = request;
    const target = headers['x-amz-target'] as string | undefined;
    const body = await text(request);
    const signature = signatureOf({ target, method, path, body });
    const equal = recorded.get(signature) ?? [];
    const call = equal.shift();
    if (call === undefined) {
      console.error(`this call was not recorded: ${signature}`);
      response.writeHead(400).end('{"__type":"ValidationException"}');
      return;
    }
    equal.push(call);
    response.writeHead(call.response.status, { 'Content-Type': call.response.type });
    response.end(withIdsOf(body, call).replaceAll(SERVER, server.url));
  });
  const server = await listen(replying, 'https');
  return {
    ...server,
    cert,
    /** Responds from now on to these calls. */
    replay(calls: readonly Call[]): void {
      recorded.clear();
      for (const [signature, equal] of Map.groupBy(calls, signatureOf)) recorded.set(signature, equal);
    },
  };
};

type Server = Awaited<ReturnType<typeof startReplay>>;

/** The environment of a new process, whose calls go to the server. Its certificate is written into the folder. */
const environmentIn = async (folder: string, { url, cert }: Server) => {
  const certFile = join(folder, 'cert.pem');
  await writeFile(certFile, cert);
  return {
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
};

/** The program of a new process: loads the bundle, makes the first request and prints the time after the log of the function. */
const PROGRAM = `
const [file, event] = process.argv.slice(1);
const { handler } = await import(file);
const result = await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 20000 });
const respondedMs = performance.now();
if ((result.statusCode ?? 200) >= 300) throw new Error(result.body);
process.stdout.write('\\n' + respondedMs, () => process.exit());`;

/** Returns the milliseconds from the start of a new process to its first response. Rejects if that is an error. */
const timeToFirstResponse = async (file: string, event: object, env: NodeJS.ProcessEnv): Promise<number> => {
  const args = ['--input-type=module', '-e', PROGRAM, file, JSON.stringify(event)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return Number(stdout.split('\n').at(-1));
};

await main();
