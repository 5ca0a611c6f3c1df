/** Checks the document against the OpenAPI standard: swagger-parser for validity, redocly for good practice. */
import { spawnSync } from 'node:child_process';
import SwaggerParser from '@apidevtools/swagger-parser';

/** Returns a message for each tool that rejects the document. `file` is the document's path, relative to `root`. */
export const standardProblems = async (
  text: string,
  { root, file }: { readonly root: string; readonly file: string },
): Promise<readonly string[]> => {
  try {
    await SwaggerParser.validate(JSON.parse(text));
  } catch (error) {
    return [`swagger-parser: ${(error as Error).message}`];
  }
  // A check needs no network, so the linter must neither look for updates nor report its use.
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    // It would keep compiled code in the temporary folder, where another user of the machine could plant some.
    NODE_COMPILE_CACHE: `${root}node_modules/.cache/node-compile-cache`,
  };
  const lint = spawnSync(
    process.execPath,
    [`${root}node_modules/@redocly/cli/bin/cli.js`, 'lint', file, '--max-problems=50'],
    { cwd: root, env, encoding: 'utf8' },
  );
  return lint.status === 0 ? [] : [`redocly lint:\n${lint.stdout}${lint.stderr}`];
};
