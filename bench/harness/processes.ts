import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, VARIABLES } from './recording.ts';
import { startReplay } from './replay.ts';
import type { Subject } from './subjects.ts';

/** The program of a new process: loads the bundle, makes the first request and prints the time after the log of the function. */
const PROGRAM = `
const [file, event] = process.argv.slice(1);
const { handler } = await import(file);
const result = await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 20000 });
const respondedMs = performance.now();
if ((result.statusCode ?? 200) >= 300) throw new Error(result.body);
process.stdout.write('\\n' + respondedMs, () => process.exit());`;

/** Starts what the processes share: a folder for bundles, and a server that replays recorded calls over TLS. */
export const startColdStarts = async () => {
  // In the project, so that the source of a bare handler finds the SDK.
  await mkdir(join(ROOT, '.build'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, '.build', 'bench-'));
  const server = await startReplay();
  const certFile = join(folder, 'cert.pem');
  await writeFile(certFile, server.cert);
  const env = {
    ...VARIABLES,
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_ENDPOINT_URL: server.url,
    NODE_EXTRA_CA_CERTS: certFile,
    // Hides the AWS profiles of this machine: Lambda has none.
    HOME: folder,
  };
  return {
    /** Removed by `stop`. */
    folder,

    /** Returns the milliseconds from the start of a new process to its first response. Rejects if that is an error. */
    async run({ file, recording: { first, recorderUrl } }: Subject): Promise<number> {
      server.replay(first.calls, recorderUrl);
      const args = ['--input-type=module', '-e', PROGRAM, file, JSON.stringify(first.event)];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      return Number(stdout.split('\n').at(-1));
    },

    async stop(): Promise<void> {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
