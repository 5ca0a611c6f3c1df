import './require-node.mjs';
import { failureOf, UsageError } from '#admin/cli/errors.ts';
import { abortOnInterrupt } from '#admin/cli/terminal.ts';
import { commandLine } from './command-line.ts';
import { smokeTest } from './smoke/smoke-test.ts';

const USAGE = `Usage: npm run smoke -- [options]

Calls a running service and prints one line for each check. Issues keys of its own,
which it revokes at the end, also after a failure or Ctrl-C. Uses test people only:
a stage without the sandbox, such as prod, gets no checks that need a person.

  --stage <name>     a stage in AWS, with your AWS credentials
  --local            the local service of npm start
  --data <folder>    the data folder of the local service (default: .local)
  --url <url>        the address of the service; alone, without keys and credentials
  --profile <name>   the AWS profile
  --region <name>    the AWS Region
  --steps            print each call: method, path, status and a field or two
  --emulator         the stage is on an emulator without gateway responses and
                     authorizer flush: leaves out the checks that need them

Exit codes: 0 every check passed; 1 a check failed, or the service cannot be reached;
2 wrong command line.`;

const { values } = commandLine(USAGE, {
  options: {
    stage: { type: 'string' },
    local: { type: 'boolean' },
    data: { type: 'string' },
    url: { type: 'string' },
    profile: { type: 'string' },
    region: { type: 'string' },
    steps: { type: 'boolean' },
    emulator: { type: 'boolean' },
  },
});

const { signal, restore } = abortOnInterrupt();
try {
  process.exitCode = (await smokeTest(values, { signal, print: (line) => console.log(line) })) ? 0 : 1;
} catch (error) {
  console.error(`error: ${error instanceof UsageError ? error.message : failureOf(error).message}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
} finally {
  restore();
}
