import { randomBytes } from 'node:crypto';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { AdminError } from '#admin/admin-error.ts';
import { type KeyRing, parseKeyRing } from '#shared/secrets/keyed-hashes.ts';

/** Containers read the secret again within 15 minutes. Five more are for their clocks and for what is running. */
export const STEP_WAIT_MS = 20 * 60 * 1000;

const NEW_KEY_BYTES = 32;

/** Step 1 was made: the current key is also the second of the previous ones, after the new one. */
const isBetweenSteps = ({ current, previous }: KeyRing): boolean => previous[1] === current;

/** The last step was a way back: the current key is also the first of the previous ones, before the one that was given up. */
const isBack = ({ current, previous }: KeyRing): boolean => previous[0] === current;

/** The step that was made, and when the next one may be made. */
interface HashSecretStep {
  readonly step: 1 | 2 | 'back';
  readonly nextStepAt?: string;
}

/** Returns the ring after the way back: the key before is written under again, and items under the current one are still found. */
const ringBefore = (ring: KeyRing): KeyRing => {
  const { current, previous } = ring;
  const [before] = previous;
  if (before === undefined || isBetweenSteps(ring) || isBack(ring)) {
    throw new AdminError(
      'bad_input',
      'Step 2 of a rotation was not the last step, so there is nothing to go back from.',
    );
  }
  return { current: before, previous: [before, current, ...previous] };
};

/** Returns the ring after step 1: every container finds items under the new key, and still writes under the current one. */
const ringWithNewKey = ({ current, previous }: KeyRing): KeyRing => {
  const added = randomBytes(NEW_KEY_BYTES).toString('hex');
  const others = previous.filter((key) => key !== current);
  const oldest = previous.at(-1) === current ? [current] : [];
  return { current, previous: [added, current, ...others, ...oldest] };
};

/** Returns the ring after the next step, which keeps every key and the oldest last. */
const nextRing = (ring: KeyRing, goesBack: boolean): readonly [KeyRing, HashSecretStep['step']] => {
  if (goesBack) return [ringBefore(ring), 'back'];
  if (!isBetweenSteps(ring)) return [ringWithNewKey(ring), 1];
  const [added = '', ...others] = ring.previous;
  return [{ current: added, previous: others }, 2];
};

const readRing = async (client: SecretsManagerClient, SecretId: string) => {
  const { SecretString = '', CreatedDate } = await client.send(new GetSecretValueCommand({ SecretId }));
  const ring = parseKeyRing(SecretString);
  if (ring !== undefined) return { ring, writtenAtMs: CreatedDate?.getTime() ?? 0 };
  throw new AdminError(
    'bad_input',
    'The hash secret is not {"current": "…", "previous": ["…"]}. Nothing was changed. Put its last version back first.',
  );
};

/**
 * Makes the next step of a rotation of the hash secret: adds a new key, or 20 minutes later writes under it. `goesBack`: writes under the key
 * before again; the next rotation then begins with a new key. No key is ever removed and the oldest stays last, since buyer ids come from it. Throws `too_early`, or `bad_input` for a
 * secret in another form.
 */
export const rotateHashSecret = async (
  client: SecretsManagerClient,
  secretId: string,
  { goesBack, nowMs }: { readonly goesBack: boolean; readonly nowMs: number },
): Promise<HashSecretStep> => {
  const { ring, writtenAtMs } = await readRing(client, secretId);
  const nextAtMs = writtenAtMs + STEP_WAIT_MS;
  if (!goesBack && isBetweenSteps(ring) && nowMs < nextAtMs) {
    throw new AdminError(
      'too_early',
      `Step 2 may be made at ${new Date(nextAtMs).toISOString()}, when every container has the new key.`,
    );
  }
  const [next, step] = nextRing(ring, goesBack);
  await client.send(new PutSecretValueCommand({ SecretId: secretId, SecretString: JSON.stringify(next) }));
  return step === 1 ? { step, nextStepAt: new Date(nowMs + STEP_WAIT_MS).toISOString() } : { step };
};
