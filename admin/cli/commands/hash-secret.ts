import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { rotateHashSecret } from '#admin/operations/rotate-hash-secret.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { UsageError } from '../errors.ts';

const RESULTS = {
  1: 'Step 1: every container reads the new key within 15 minutes. Run the command again in 20 minutes for step 2.\n',
  2: 'Step 2: containers write under the new key within 15 minutes. Outstanding codes are void.\n',
  back: 'Back: containers write under the key before within 15 minutes. What was written under the new key is still found.\nThe next rotation begins with step 1 and another new key.\n',
};

const rotate = async (
  { admin, hashSecretArn, requireYes }: Session,
  { back = false }: { back?: boolean },
): Promise<CommandResult> => {
  if (hashSecretArn === undefined) {
    throw new UsageError('The local service has a hash secret of its own. Name a stage: --stage prod.');
  }
  await requireYes(
    `${back ? 'Go back a step in' : 'Make the next step of'} the rotation of the hash secret?`,
  );
  const options = { goesBack: back, nowMs: admin.clock() };
  const { step, nextStepAt } = await rotateHashSecret(new SecretsManagerClient({}), hashSecretArn, options);
  await admin.audit.write(admin.record({ action: 'hash_secret.rotated', details: { step } }));
  return { json: { step, next_step_at: nextStepAt ?? null }, text: RESULTS[step] };
};

/** `hash-secret rotate` */
export const addHashSecretCommands: AddCommands = ({ group }) => {
  const add = group('hash-secret', 'rotate the secret of the keyed hashes');
  const description = 'make the next step of a rotation: add a new key, 20 minutes later write under it';
  add('rotate', description, rotate).option('--back', 'write under the key before again');
};
