import { DeleteFunctionCommand, LambdaClient, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import { apiStackName } from '#lib/outputs.ts';
import { type DeployedStage, deployedStage } from './deployed.ts';
import { changedSettings, type Move, movesBack, movesForward, oldVersions } from './plan.ts';

/** What to do: take back the last deploy, if nothing else is named. */
export interface RollbackOptions {
  readonly stage: string;
  /** Moves the aliases to the versions of the stack instead. */
  readonly forward?: boolean;
  /** Removes old versions instead. */
  readonly removeOldVersions?: boolean;
  /** Prints what would be done. */
  readonly dryRun?: boolean;
}

type Print = (line: string) => void;

/** A stage that cannot be rolled back now. The message is one sentence with the next step. */
export class NoRollback extends Error {
  override readonly name = 'NoRollback';
}

const NOT_TAKEN_BACK =
  'Not taken back: roles, alarms, throttles, the firewall, the domain, the table and the secrets.';

const checkState = (stage: string, { status, functions }: DeployedStage): void => {
  if (status.endsWith('_IN_PROGRESS')) {
    throw new NoRollback(
      `A deploy of stage ${stage} is under way (${status}). Stop it, and CodeDeploy rolls it back: aws deploy list-deployments --include-only-statuses InProgress, then aws deploy stop-deployment --deployment-id <id> --auto-rollback-enabled.`,
    );
  }
  if (functions.length === 0) {
    throw new NoRollback(
      `Stage ${stage} has no aliases, since its rollout is "all-at-once". Deploy the release before: docs/operations.md, "Roll back a deploy".`,
    );
  }
};

/** Moves the aliases one after the other. A second run does what is left if one fails. */
const move = async (lambda: LambdaClient, moves: readonly Move[], { print, dryRun }: Run): Promise<void> => {
  for (const { of, to } of moves) {
    if (!dryRun) {
      await lambda.send(
        new UpdateAliasCommand({
          FunctionName: of.functionName,
          Name: of.aliasName,
          FunctionVersion: String(to),
          RoutingConfig: { AdditionalVersionWeights: {} },
          // Refused if somebody else has changed the alias meanwhile.
          RevisionId: of.revisionId,
        }),
      );
    }
    print(`  ${of.description}: version ${of.serving} -> ${to}`);
  }
  const settings = changedSettings(moves);
  print(
    settings.length === 0 ? 'No setting of a function changes with it.' : 'Settings that change with it:',
  );
  for (const setting of settings) print(`  ${setting}`);
};

const removeVersions = async (lambda: LambdaClient, stage: DeployedStage, run: Run): Promise<void> => {
  for (const each of stage.functions) {
    const versions = oldVersions(each);
    for (const version of run.dryRun ? [] : versions) {
      await lambda.send(
        new DeleteFunctionCommand({ FunctionName: each.functionName, Qualifier: String(version) }),
      );
    }
    run.print(`  ${each.description}: ${versions.length === 0 ? 'nothing to remove' : versions.join(', ')}`);
  }
};

interface Run {
  readonly print: Print;
  readonly dryRun: boolean;
}

/** Rolls a stage back, or forward again, or removes old versions. Throws NoRollback before anything is changed. */
export const rollback = async (options: RollbackOptions, print: Print): Promise<void> => {
  const { stage: name, forward = false, removeOldVersions = false, dryRun = false } = options;
  const lambda = new LambdaClient({});
  try {
    const stage = await deployedStage(name, lambda);
    checkState(name, stage);
    if (dryRun) print('Nothing is changed; this is what would be done.');
    if (removeOldVersions) {
      print(`Stage ${name}: versions that are removed, by function`);
      return await removeVersions(lambda, stage, { print, dryRun });
    }
    const moves = forward ? movesForward(stage) : movesBack(stage);
    const deploy = `the deploy of ${stage.deployedAt.toISOString()}`;
    if (moves.length === 0) {
      return print(
        forward
          ? `Stage ${name} serves the versions of its stack already.`
          : `Nothing to do: ${deploy} changed no function of stage ${name} that still serves. "npm run admin -- --stage ${name} info" names the release; an older one is deployed from its tag.`,
      );
    }
    print(`Stage ${name}: ${forward ? 'forward to' : 'back from'} ${deploy}`);
    await move(lambda, moves, { print, dryRun });
    if (forward) return;
    print(NOT_TAKEN_BACK);
    print(`Next: npm run smoke -- --stage ${name}. Then correct the defect and deploy.`);
    print(
      `The stack ${apiStackName(name)} still names the newer versions: npm run rollback -- --stage ${name} --forward returns to them.`,
    );
  } finally {
    lambda.destroy();
  }
};
