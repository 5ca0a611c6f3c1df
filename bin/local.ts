/** `npm start`: the whole service on this machine. Exits 0 when it was stopped, 1 when it cannot run, 2 on a wrong option. */
import './require-node.mjs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { StartupError } from '#local/startup-error.ts';
import { errorFields, logEvent } from '#shared/log.ts';

const DEFAULT_PORT = 3000;
const DEFAULT_FOLDER = fileURLToPath(new URL('../.local', import.meta.url));

/** One Ctrl-C under npm reaches us twice: once from the terminal and once from npm, which hands it on. */
const SAME_KEYSTROKE_MS = 500;

const USAGE = `Usage: npm start -- [options]

Runs the whole service on this machine, with an embedded DynamoDB and simulators of the registry and the SMS provider.

Options:
  --port <number>   where to listen; 0 for any free port (default: ${DEFAULT_PORT})
  --memory          forget everything at the end
  --data <folder>   where to keep data and secrets (default: .local)
  --help            show this

Environment:
  DYNAMODB_ENDPOINT   the URL of another DynamoDB, in place of the embedded one
  OTP_ACCESS          "api-key" (default) or "public": whether the one-time-code operations need a key
  IDENTITY_PROVIDERS  the registries to ask, the first one first (default: jibit,zohal)
  SMS_PROVIDERS       the SMS providers to ask, the first one first (default: kavenegar,sms-ir)
`;

const PARENT_POLL_MS = 100;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const complain = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

const readOptions = (): { port: number; memory: boolean; data: string; help: boolean } | undefined => {
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
    complain(`${(error as Error).message}\n\n${USAGE}`);
    return undefined;
  }
};

/** Resolves when the service shall stop. A signal that comes later than the same keystroke ends the process as it is. */
const askedToStop = (): Promise<string> =>
  new Promise((resolve) => {
    let firstAtMs: number | undefined;
    const onSignal = (): void => {
      if (firstAtMs !== undefined && Date.now() - firstAtMs > SAME_KEYSTROKE_MS) process.exit(1);
      firstAtMs ??= Date.now();
      resolve('Stopping: requests in flight may finish. The same again stops at once.');
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    if (process.env.npm_lifecycle_event === 'start') {
      whenParentIsGone(() => resolve('Stopping: npm was stopped.'));
    }
  });

/** A signal to npm ends npm and the shell that it runs us in, and does not reach us: all we see is that the shell is gone. */
const whenParentIsGone = (onGone: () => void): void => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, PARENT_POLL_MS);
};

const main = async (): Promise<number> => {
  const options = readOptions();
  if (options === undefined) return 2;
  if (options.help) {
    say(USAGE);
    return 0;
  }
  const asked = askedToStop();
  // Loaded only now: a wrong option is answered at once.
  const { startService } = await import('#local/service.ts');
  const { readyText, requestLine } = await import('#local/terminal.ts');
  const service = await startService({
    port: options.port,
    folder: options.data,
    inMemory: options.memory,
    databaseEndpoint: process.env.DYNAMODB_ENDPOINT,
    onProgress: say,
    onCompleted: (completed) => say(requestLine(completed)),
    onMessage: ({ phone, code }) => say(`SMS to ${phone}: code ${code}`),
  });
  say(readyText(service.demo));
  const broken = service.broken.then((sentence) => ({ sentence, exitCode: 1 }));
  const end = await Promise.race([broken, asked.then((sentence) => ({ sentence, exitCode: 0 }))]);
  say(`\n${end.sentence}`);
  await service.stop();
  if (end.exitCode === 0) say('Stopped.');
  return end.exitCode;
};

// A terminal that is gone is no reason to end without tidying up.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

// On AWS such an error costs one instance of one function; here it must not cost the whole service. The text goes to the log, redacted.
process.on('unhandledRejection', (error) => {
  logEvent('request_failed', { operation: 'local', ...errorFields(error) });
  complain('Something failed that nobody waited for: see service.log.');
});

main().then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    complain(error instanceof StartupError ? error.message : String((error as Error).stack));
    process.exit(1);
  },
);
