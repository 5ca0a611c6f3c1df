/** `npm start`: the whole service on this machine. Exits 0 when it was stopped, 1 when it cannot run, 2 on a wrong option. */
import { fileURLToPath } from 'node:url';
import { commandLine, wrongCommandLine } from './command-line.ts';

const USAGE = `Usage: npm start -- [options]

Runs the whole service on this machine, with an embedded DynamoDB. Registries
and SMS provider are the sandbox: phones begin with 0999, a code is the last six
digits.

Options:
  --port <number>   the port to listen on; 0 for any free one (default: 3000)
  --memory          keep no data after the end
  --data <folder>   the folder for data and secrets (default: .local)
  --help            show this text

Environment:
  DYNAMODB_ENDPOINT   the URL of another DynamoDB, instead of the embedded one
  SITE_FOLDER         the folder of a documentation site that is built already
  OTP_ACCESS          "api-key" (default) or "public": whether the
                      one-time-code operations require a key`;

const { values } = commandLine(USAGE, {
  options: {
    port: { type: 'string', default: '3000' },
    memory: { type: 'boolean', default: false },
    data: { type: 'string', default: fileURLToPath(new URL('../.local', import.meta.url)) },
  },
});

const { port, data: folder, memory: inMemory } = values;
if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
  wrongCommandLine('--port takes a number from 0 to 65535');
}
// Imported only now, so that a wrong option is reported at once.
const { runService } = await import('#local/run.ts');
process.exit(await runService({ port: Number(port), folder, inMemory }));
