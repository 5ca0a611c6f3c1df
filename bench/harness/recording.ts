import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { DeployedVariable } from '#lib/grants.ts';
import { writePages } from '#reference/pages/write-pages.ts';
import { redirectLog } from '#shared/log.ts';
import { newDemoPerson } from '#test/simulators/people.ts';
import { startSimulators } from '#test/simulators/server.ts';
import { HASH_SECRET, startBenchDatabase, TABLE_NAME } from './database.ts';
import { eventOf, OPERATIONS, type Operation, type Round } from './operations.ts';
import { type Call, SERVER, startRecorder } from './recorder.ts';

/** The folder of this checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A request to a function, with the calls that the function made for it and its result. */
export interface RecordedRequest {
  readonly event: object;
  readonly calls: readonly Call[];
  readonly result: APIGatewayProxyResult;
}

/** An operation with the first request of a process and a later one. */
export interface Recording {
  readonly operation: Operation;
  readonly first: RecordedRequest;
  readonly later: RecordedRequest;
}

type OptionalVariable = 'PAID_CHECKS_PER_DAY' | 'SMS_PER_DAY' | 'METRIC_NAMESPACE';
type Variable = Exclude<DeployedVariable, OptionalVariable> | 'PAGES_FOLDER';

/** The environment variables that the stacks set for the functions, and where the pages are, which a bundle has beside it. */
export const VARIABLES: Readonly<Record<Variable, string>> = {
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
  PAGES_FOLDER: join(ROOT, 'node_modules', '.cache', 'bench-pages'),
};

/** A function as Lambda calls it. The result of the authorizer is a policy, which has no status. */
export type Handler = (event: object, context: object) => Promise<APIGatewayProxyResult>;

/** The context that Lambda passes to a function, as far as the functions read it. */
export const CONTEXT = { getRemainingTimeInMillis: () => 20_000 };

/** What a recording needs while it is made. */
const startUpstreams = async () => {
  const [database, simulators] = await Promise.all([startBenchDatabase(), startSimulators()]);
  const providerSecret = JSON.stringify(simulators.providerSecret).replaceAll(
    'http://127.0.0.1:',
    `${SERVER}/`,
  );
  const secrets = { 'hash-secret': HASH_SECRET, 'provider-secret': providerSecret };
  const recorder = await startRecorder({ databaseUrl: database.url, secrets });
  return {
    recorder,
    ageCheck: database.ageCheck,
    async newRound(): Promise<Round> {
      const seller = await database.newSeller();
      const person = newDemoPerson();
      await database.registerBuyer(person.phone);
      const code = () => simulators.messages(person.phone)[0]?.code ?? '';
      return { ...seller, person, userId: '', token: '', linkId: '', code };
    },
    async stop(): Promise<void> {
      await Promise.all([recorder.close(), simulators.close()]);
      await database.stop();
    },
  };
};

/** Notes in the round what later requests need of a response. */
const learn = ({ name }: Operation, { body }: APIGatewayProxyResult, round: Round): void => {
  if (name === 'create-user') round.userId = JSON.parse(body).id;
  if (name === 'verify-otp') round.token = JSON.parse(body).access_token;
  if (name === 'find-links') round.linkId = JSON.parse(body).data[0].id;
};

/** Links the person of the round, whose user was removed. */
const linkAgain = async (round: Round): Promise<void> => {
  const { handler } = await import('#functions/create-user.ts');
  const result = await (handler as unknown as Handler)(
    eventOf('POST', '/v1/users', round, round.person),
    CONTEXT,
  );
  if (result.statusCode !== 201) throw new Error(result.body);
};

/** Records the calls of every operation twice: for the first request of a process and for a later one. */
export const recordOperations = async (): Promise<Recording[]> => {
  const { recorder, ageCheck, newRound, stop } = await startUpstreams();
  await writePages(VARIABLES.PAGES_FOLDER);
  Object.assign(process.env, VARIABLES, { AWS_ENDPOINT_URL: recorder.url });
  const restoreLog = redirectLog(() => {});
  const prepare = async ({ before }: Operation, round: Round): Promise<void> => {
    if (before === 'age') await ageCheck(round);
    if (before === 'link') await linkAgain(round);
    recorder.take();
  };
  const record = async (handler: Handler, operation: Operation, round: Round) => {
    await prepare(operation, round);
    const event = operation.event(round);
    // A handler may change its event.
    const result = await handler(structuredClone(event), CONTEXT);
    if (result.statusCode >= 300) throw new Error(`${operation.title}: ${result.body}`);
    learn(operation, result, round);
    return { event, calls: recorder.take(), result };
  };

  try {
    const [one, two] = [await newRound(), await newRound()];
    const recordings: Recording[] = [];
    for (const operation of OPERATIONS) {
      const { href } = pathToFileURL(join(ROOT, 'functions', `${operation.name}.ts`));
      // The query makes a new instance of the module, so that its first request is one of a new process.
      const { handler } = await import(`${href}?${encodeURIComponent(operation.title)}`);
      const first = await record(handler, operation, one);
      const later = await record(handler, operation, two);
      recordings.push({ operation, first, later });
    }
    return recordings;
  } finally {
    restoreLog();
    await stop();
  }
};
