/** `npm start`: the whole service on this machine. Exits 0 when it was stopped, 1 when it cannot run, 2 on a wrong option. */
import './require-node.mjs';
import { fileURLToPath } from 'node:url';
import { parseArgs, styleText } from 'node:util';
import { chosenDatabaseEndpoint, isStartedByNpm } from '#local/environment.ts';
import { startupReason } from '#local/startup-error.ts';
import { errorFields, logEvent } from '#shared/log.ts';

const DEFAULT_PORT = 3000;
const DEFAULT_FOLDER = fileURLToPath(new URL('../.local', import.meta.url));

/** One Ctrl-C under npm arrives twice within this time: from the terminal, and from npm, which forwards it. */
const SAME_KEYSTROKE_MS = 500;

const USAGE = `Usage: npm start -- [options]

Runs the whole service on this machine, with an embedded DynamoDB and simulators of the registries and the SMS providers.

Options:
  --port <number>   the port to listen on; 0 for any free one (default: ${DEFAULT_PORT})
  --memory          keep no data after the end
  --data <folder>   the folder for data and secrets (default: .local)
  --help            show this text

Environment:
  DYNAMODB_ENDPOINT   the URL of another DynamoDB, instead of the embedded one
  OTP_ACCESS          "api-key" (default) or "public": whether the one-time-code operations require a key
  IDENTITY_PROVIDERS  the identity registries in the order in which they are called (default: jibit,zohal)
  SMS_PROVIDERS       the SMS providers in the order in which they are called (default: kavenegar,sms-ir)
  SMS_PER_DAY         the ceiling of SMS per day (default: none; 1000 with OTP_ACCESS=public)
`;

const PARENT_POLL_MS = 100;

/** Respects NO_COLOR. */
const isColored = process.stdout.isTTY && process.stdout.hasColors();

let isEnding = false;

/** Prints a line of the running service. Once the reason of its end is printed, nothing may come after it. */
const say = (text: string): void => {
  if (!isEnding) console.log(text);
};

interface Options {
  readonly port: number;
  readonly memory: boolean;
  readonly data: string;
  readonly help: boolean;
}

const readOptions = (): Options | undefined => {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: String(DEFAULT_PORT) },
        memory: { type: 'boolean', default: false },
        data: { type: 'string', default: DEFAULT_FOLDER },
        help: { type: 'boolean', default: false },
      },
    });
    if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535) {
      throw new Error('--port takes a number from 0 to 65535.');
    }
    return { ...values, port: Number(values.port) };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return undefined;
  }
};

/** Resolves when the service should stop. A later second signal ends the process at once. */
const stopRequest = (): Promise<string> =>
  new Promise((resolve) => {
    let firstAtMs: number | undefined;
    const onSignal = (): void => {
      if (firstAtMs !== undefined && performance.now() - firstAtMs > SAME_KEYSTROKE_MS) process.exit(1);
      firstAtMs ??= performance.now();
      resolve('Stopping after the requests in flight. Press Ctrl-C again to stop at once.');
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    if (!isStartedByNpm()) return;
    // A signal to npm ends npm and the shell in which npm runs this process, but does not reach this process.
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) resolve('Stopping: npm was stopped.');
    }, PARENT_POLL_MS);
  });

const main = async (options: Options | undefined): Promise<number> => {
  if (options === undefined) return 2;
  if (options.help) {
    say(USAGE);
    return 0;
  }
  const stopRequested = stopRequest();
  // Imported only now, so that a wrong option is reported at once.
  const { startService } = await import('#local/service.ts');
  const { messageLines, readyText, requestLine } = await import('#local/terminal.ts');
  const service = await startService({
    port: options.port,
    folder: options.data,
    inMemory: options.memory,
    databaseEndpoint: chosenDatabaseEndpoint(),
    onProgress: say,
    onCompleted: (completed) => say(requestLine(completed, { now: new Date(), isColored })),
    onTrouble: (sentence) => say(isColored ? styleText('red', sentence) : sentence),
    onMessage: (message) => say(messageLines(message)),
  });
  say(readyText(service.demo));
  const broken = service.broken.then((reason) => ({ reason, exitCode: 1 }));
  const end = await Promise.race([broken, stopRequested.then((reason) => ({ reason, exitCode: 0 }))]);
  say(`\n${end.reason}`);
  isEnding = end.exitCode === 1;
  await service.stop();
  say('Stopped.');
  return end.exitCode;
};

// The service still has to stop in order when its terminal is closed.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

// On AWS such an error ends one container of one function; here it must not end the whole service. The log gets its redacted text.
process.on('unhandledRejection', (error) => {
  logEvent('request_failed', { operation: 'local', ...errorFields(error) });
  if (!isEnding) console.error('An unexpected error happened outside a request: see service.log.');
});

const options = readOptions();
try {
  process.exit(await main(options));
} catch (error) {
  console.error(startupReason(error, options?.data ?? ''));
  process.exit(1);
}
