import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiStackName, OUTPUTS } from '#lib/outputs.ts';
import { STAGE_NAMES } from '#lib/stages.ts';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const WORKFLOWS = [
  '.github/workflows/ci.yml',
  '.github/workflows/deploy.yml',
  '.github/workflows/release.yml',
  '.github/workflows/nightly.yml',
];
const FILES = [...WORKFLOWS, '.github/actions/install/action.yml'];

/** Returns the texts that a pattern captures in a file. */
const captured = (file: string, pattern: RegExp): string[] =>
  [...read(file).matchAll(pattern)].map(([, text = '']) => text);

const [ci = '', deploy = '', release = ''] = WORKFLOWS.map(read);

describe('the GitHub workflows', () => {
  test.each(FILES)('%s pins every action by commit and names its release in a comment', (file) => {
    const foreign = captured(file, /uses: (?!\.\/)(.+)$/gm);
    expect(foreign.length).toBeGreaterThan(0);
    for (const action of foreign) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test.each(WORKFLOWS)('%s grants nothing but what a job names, and limits the time of each job', (file) => {
    expect(read(file)).toMatch(/^permissions: \{\}$/m);
    // Only a release writes to the repository: its files, and who made them.
    const granted = ['id-token', ...(file.endsWith('/release.yml') ? ['contents', 'attestations'] : [])];
    expect(captured(file, /^ {6}([\w-]+): write$/gm).filter((scope) => !granted.includes(scope))).toEqual([]);
    expect(captured(file, /^ {4}(timeout-minutes): \d+$/gm)).toHaveLength(
      captured(file, /^ {4}(runs-on): /gm).length,
    );
  });

  test.each(WORKFLOWS)(
    '%s has no trigger that gives a fork the rights of the repository, and leaves no token in a checkout',
    (file) => {
      expect(read(file)).not.toMatch(/pull_request_target|workflow_run|issue_comment|discussion/);
      const checkouts = captured(file, /uses: (actions\/checkout)@/g);
      expect(captured(file, /^ {10}persist-credentials: (\w+)$/gm)).toEqual(checkouts.map(() => 'false'));
      expect(read(file)).not.toContain('continue-on-error');
    },
  );

  test('only a deploy and the attestation of a release may ask for an identity, and they install the packages anew', () => {
    const identities = WORKFLOWS.map((file) => captured(file, /^ {6}(id-token): write$/gm).length);
    expect(identities).toEqual([0, 2, 1, 0]);
    expect(deploy).not.toMatch(/cached: /);
    expect(release).not.toMatch(/cached: /);
    // What was chosen, and nothing else.
    expect(`${deploy}${release}`).not.toMatch(/^ {10}ref: /m);
  });

  test('the check of ci.yml that a branch rule requires fails unless every other job has passed', () => {
    const jobs = captured('.github/workflows/ci.yml', /^ {2}([\w-]+):$/gm).slice(1);
    const [, last = ''] = ci.split(/^ {2}passed:$/m);
    const [, needed = ''] = /^\n {4}if: always\(\)\n {4}needs: \[(.+)\]\n/.exec(last) ?? [];
    expect([...needed.split(', '), 'passed'].sort()).toEqual(
      jobs.filter((job) => job !== 'pull_request').sort(),
    );
    expect(last).toContain("!contains(needs.*.result, 'failure') && !contains(needs.*.result, 'cancelled')");
  });

  test.each([...FILES, 'package.json', '.ci/run'])(
    '%s runs no install script but that of the package `node`',
    (file) => {
      expect(
        captured(file, /(npm (?:ci|install).*)$/gm).filter((line) => !line.includes('--ignore-scripts')),
      ).toEqual([]);
    },
  );

  test('ci.yml runs the suites of .ci/run, each of which is a script of package.json', () => {
    const suites = captured('.github/workflows/ci.yml', /suite: \[(.+)\]/g)
      .flatMap((list) => list.split(', '))
      .map((suite) => suite.replaceAll("'", ''));
    const [, inRun = ''] = /^suites=\((.+)\)$/m.exec(read('.ci/run')) ?? [];
    expect(suites.toSorted()).toEqual(inRun.split(' ').sort());
    expect(Object.keys(packageJson.scripts)).toEqual(expect.arrayContaining(suites));
    expect(ci).toMatch(/npm run \$\{\{ matrix\.suite \}\}/);
  });

  test('ci.yml fetches the tags, since `static` compares openapi.json with the last release', () => {
    const [, suite = ''] = /\n {2}suite:\n([\s\S]+?)\n\n/.exec(ci) ?? [];
    expect(suite).toMatch(/actions\/checkout@.*\n\s+with:\n(?:\s+#.*\n)?\s+fetch-depth: 0\n/);
  });

  test('Dependabot reads every package.json of the repository', () => {
    const manifests = execFileSync('git', ['ls-files', '*package.json'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const folders = manifests
      .trim()
      .split('\n')
      .map((file) => `/${dirname(file)}`.replace(/^\/\.$/, '/'));
    const named = captured('.github/dependabot.yml', /director(?:y|ies): \[?([^\]\n]+)/g).flatMap((list) =>
      list.split(', '),
    );
    expect(named).toEqual(expect.arrayContaining(folders));
  });

  test('deploy.yml offers the stages of lib/stages.ts', () => {
    expect(deploy).toContain(`options: [${STAGE_NAMES.join(', ')}]`);
  });

  test('release.yml attests a tag only if its commit is on main and has passed CI, which it waits for without the rights of a release', () => {
    const [verify = '', client = ''] = release.split(/^ {2}client:$/m);
    expect(verify).toContain('git merge-base --is-ancestor "$GITHUB_SHA" refs/remotes/origin/main\n');
    expect(verify).toMatch(
      /run=\$\(gh run list --workflow ci\.yml --branch main --event push --commit "\$GITHUB_SHA" .+\n\s+gh run watch "\$\{run:\?.+\}" --exit-status\n/,
    );
    expect(verify).not.toMatch(/: write$/m);
    expect(client).toMatch(/^\n {4}needs: \[verify, nightly\]\n/);
  });

  test('deploy.yml checks the tag of prod and its CI before it asks AWS for credentials', () => {
    const steps = [
      "inputs.stage == 'prod' && !startsWith(github.ref, 'refs/tags/v')",
      'git merge-base --is-ancestor "$GITHUB_SHA" refs/remotes/origin/main',
      'gh run list --workflow ci.yml --branch main --event push --commit "$GITHUB_SHA" --status success',
      'gh run list --workflow deploy.yml',
      'configure-aws-credentials',
    ].map((step) => deploy.indexOf(step));
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(steps).not.toContain(-1);
  });

  test.each([
    ['a commit that main does not have', { isOnMain: 1 }, 'names a commit that main does not have'],
    ['a commit without a passed CI', { ci: 0 }, 'CI of main has not passed'],
    ['a commit that dev has not run', { dev: 0 }, 'has not been deployed to dev'],
  ])('deploy.yml refuses prod %s', (_, changes, sentence) => {
    const steps = captured(
      '.github/workflows/deploy.yml',
      /- if: inputs\.stage == 'prod'\n {8}run: \|\n((?: {10}.+\n)+)/g,
    );
    const statusOf = ({ isOnMain = 0, ci: passed = 1, dev = 1 }) => {
      const programs = `git() { return ${isOnMain}; }
        gh() { case "$4" in ci.yml) echo ${passed};; deploy.yml) echo ${dev};; esac; }`;
      const { status, stdout } = spawnSync('sh', ['-e', '-c', `${programs}\n${steps.join('')}`], {
        encoding: 'utf8',
      });
      return { status, stdout };
    };
    expect(statusOf({})).toEqual({ status: 0, stdout: '' });
    expect(statusOf(changes)).toEqual({ status: 1, stdout: expect.stringContaining(sentence) });
  });

  test('deploy.yml deploys after the diff, is never cancelled by another run, and passes only with its smoke test', () => {
    expect(deploy).toMatch(/^ {2}deploy:\n {4}needs: diff\n/m);
    expect(deploy).toMatch(/^ {2}cancel-in-progress: false$/m);
    expect(deploy).toMatch(/^ {8}run: npm run smoke -- --stage "\$STAGE"$/m);
  });

  test('deploy.yml deploys the assembly whose diff was reviewed, and builds none after the approval', () => {
    const [beforeApproval = '', afterApproval = ''] = deploy.split(/^ {2}deploy:$/m);
    const [, uploaded] = /upload-artifact@[\s\S]+?path: (\S+ .+)\n/.exec(beforeApproval) ?? [];
    const [, downloaded] = /download-artifact@[\s\S]+?path: (\S+ .+)\n/.exec(afterApproval) ?? [];
    expect(uploaded).toMatch(/^cdk\.out\/\$\{\{ inputs\.stage \}\}$/);
    expect(downloaded).toBe(uploaded);
    expect(beforeApproval).toContain('npm run diff -- --stage "$STAGE" $API\n');
    expect(captured('.github/workflows/deploy.yml', /(npm run (?:deploy|synth|bootstrap) .+)/g)).toEqual([
      'npm run deploy -- --stage "$STAGE" $API --app "cdk.out/$STAGE" --yes',
    ]);
  });

  test('deploy.yml notifies the topic of the alarms, as its policy allows, if the smoke test of prod fails', () => {
    const [, smokeAndAfter = ''] = deploy.split(/^ {6}- id: smoke$/m);
    const [, step = ''] =
      /npm run smoke -- [\s\S]+\n {6}- if: failure\(\) && steps\.smoke\.outcome == 'failure' && inputs\.stage == 'prod'\n([\s\S]+)/.exec(
        smokeAndAfter,
      ) ?? [];
    const { alarmTopicArn } = OUTPUTS;
    expect(step).toContain(`--stack-name "${apiStackName('$STAGE')}"`);
    expect(step).toContain(`OutputKey == '${alarmTopicArn}'`);
    expect(step).toContain(
      'aws sns publish --topic-arn "$topic" --subject "Buyer Linking ($STAGE): the smoke test',
    );
    expect(read('docs/operators/deploy-from-github.md')).toContain(
      `"sns:Publish", "Resource": "<${alarmTopicArn}>"`,
    );
    expect(read('docs/operators/alarms.md')).toContain('"the smoke test of a deploy failed"');
  });

  test('deploy.yml deploys to prod only what a passed run of the same workflow, by the name of its run, has deployed to dev', () => {
    expect(deploy).toMatch(/^run-name: Deploy \$\{\{ inputs\.stage \}\}$/m);
    const [beforeApproval = ''] = deploy.split(/^ {2}deploy:$/m);
    const [, isDev = ''] =
      /gh run list --workflow deploy\.yml --commit "\$GITHUB_SHA" --status success --limit 100 --json displayTitle --jq '(.+)'\)\n/.exec(
        beforeApproval,
      ) ?? [];
    expect(isDev).toBe('map(select(.displayTitle == "Deploy dev")) | length');
    expect(beforeApproval).toMatch(/if \[ "\$tried" = 0 \]; then\n.+\n\s+exit 1\n/);
  });

  test('deploy.yml gives a first deploy the time that a TLS policy of a domain takes, and credentials for as long, which the role must allow', () => {
    expect(deploy).toMatch(/\n {4}timeout-minutes: 90\n/);
    const [, afterApproval = ''] = deploy.split(/^ {2}deploy:$/m);
    expect(afterApproval).toContain(`\n          role-duration-seconds: ${90 * 60}\n`);
    expect(read('docs/operators/deploy-from-github.md')).toContain(`--max-session-duration ${90 * 60}\``);
  });

  test('use the environments that the trust policy of docs/operators/deploy-from-github.md is for, and no others', () => {
    const environments = [...deploy.matchAll(/^ {4}environment: (.+)$/gm)].map(([, name = '']) =>
      name.replace(/\$\{\{ inputs\.stage \}\}/, 'prod'),
    );
    const [, names = ''] =
      /<!-- Trust policy: (.+) -->\s+```json\n/.exec(read('docs/operators/deploy-from-github.md')) ?? [];
    expect(names.split(', ')).toEqual([...new Set(environments)]);
  });
});
