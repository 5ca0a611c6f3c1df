import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { bareHandler } from '../harness/bare-handler.ts';
import { type Recording, ROOT } from '../harness/recording.ts';
import { bundle, type Subject } from '../harness/subjects.ts';

const FOLDER = join(ROOT, 'bench', 'frameworks');

/** The frameworks by the names of their files. */
const FRAMEWORKS = {
  hono: 'Hono',
  middy: 'middy, Powertools logger and metrics',
  powertools: 'Powertools router and logger',
  express: 'Express 5, serverless-http',
  fastify: 'Fastify 5',
  nest: 'NestJS 12, serverless-http',
} as const;

/** Lets a framework's handler import the recorded calls, and its packages be CommonJS. */
const forFrameworks = (recordedCalls: string): Plugin => ({
  name: 'for-frameworks',
  setup({ initialOptions, onResolve }) {
    initialOptions.alias = { 'recorded-calls': recordedCalls };
    // CommonJS packages use `require`, which an ES module does not have.
    const require =
      "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);";
    initialOptions.banner = { js: require };
    // Optional parts of NestJS, which it requires only if they are used.
    const optional = /^(?:@nestjs\/(?:microservices|websockets)|class-(?:validator|transformer))/;
    onResolve({ filter: optional }, ({ path }) => ({ path, external: true }));
  },
});

/**
 * Bundles the recorded operation, GET /v1/users, as each framework's handler: it validates the query with zod and makes the recorded calls.
 * Installs the frameworks. Returns the subjects by the names of the frameworks.
 */
export const frameworkSubjects = async (
  folder: string,
  recording: Recording,
): Promise<Map<string, Subject>> => {
  execFileSync('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund', '--silent'], {
    cwd: FOLDER,
    shell: process.platform === 'win32',
  });
  const recordedCalls = join(folder, 'recorded-calls.mjs');
  await writeFile(recordedCalls, bareHandler(recording.first));
  const subjects = new Map<string, Subject>();
  for (const [file, title] of Object.entries(FRAMEWORKS)) {
    const source = join(FOLDER, `${file}.mjs`);
    subjects.set(title, await bundle(folder, recording, source, [forFrameworks(recordedCalls)]));
  }
  return subjects;
};
