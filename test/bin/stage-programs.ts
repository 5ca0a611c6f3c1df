import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { withThisNode } from '../deploy/command.ts';

/** The program of `npm run synth` and the other scripts for one stage. */
export const STAGE = 'bin/stage.ts';

/** Where the CDK CLI writes the stacks of prod. */
export const PROD = 'cdk.out/prod';

/** An app of its own: a synthesis of the service takes seven CPU seconds. */
export const APP = ['--no-notices', '--app', 'node test/bin/context-app.ts'];

/** No credentials, wherever the tests run. */
const NO_CREDENTIALS = {
  AWS_PROFILE: undefined,
  AWS_ACCESS_KEY_ID: undefined,
  AWS_SECRET_ACCESS_KEY: undefined,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
};

export const environment = (variables: NodeJS.ProcessEnv = NO_CREDENTIALS) =>
  ({ ...withThisNode(), ...variables }) as NodeJS.ProcessEnv;

/** Runs a program of Node without credentials. */
export const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: environment(),
  });
  return { status, stdout, stderr };
};

/** Returns a copy of what bin/stage.ts reads, with other text in files of node_modules. Remove it after the test. */
export const copyOfStages = (replaced: Readonly<Record<string, string>>): string => {
  const copy = mkdtempSync(join(tmpdir(), 'buyer-linking-stages-'));
  for (const path of ['admin/cli', 'bin', 'lib', 'shared', 'package.json', 'tsconfig.json'])
    cpSync(path, join(copy, path), { recursive: true });
  const link = (path: string): void => symlinkSync(resolve(path), join(copy, path));
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync('node_modules')) link(join('node_modules', name));
  for (const [file, text] of Object.entries(replaced)) {
    const [first = '', second = ''] = file.split('/');
    rmSync(join(copy, 'node_modules', first));
    if (first.startsWith('@')) {
      mkdirSync(join(copy, 'node_modules', first));
      for (const name of readdirSync(join('node_modules', first)).filter((each) => each !== second))
        link(join('node_modules', first, name));
    }
    const path = join(copy, 'node_modules', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return copy;
};
