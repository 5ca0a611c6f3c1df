import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { rotateHashSecret, STEP_WAIT_MS } from '#admin/operations/rotate-hash-secret.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';

const OLDEST = 'the oldest key, of at least 32 characters';
const OLD = 'the key before, of at least 32 characters';
const PHONE = '+989990001002';

/** A secret in memory, with the time of its last version, and a client for it. */
const secretOf = (text: string) => {
  const versions = [{ text, writtenAtMs: 0 }];
  const newest = () => versions.at(-1) as (typeof versions)[number];
  let nowMs = 0;
  const send = async ({ input }: { readonly input: { readonly SecretString?: string } }) => {
    if (input.SecretString === undefined) {
      return { SecretString: newest().text, CreatedDate: new Date(newest().writtenAtMs) };
    }
    versions.push({ text: input.SecretString, writtenAtMs: nowMs });
    return {};
  };
  return {
    ring: () => JSON.parse(newest().text),
    hashes: () => keyedHashesFrom({ read: async () => newest().text }),
    versions,
    rotate: (minutes: number, goesBack = false) => {
      nowMs = minutes * 60_000;
      return rotateHashSecret({ send } as unknown as SecretsManagerClient, 'hash-secret', {
        goesBack,
        nowMs,
      });
    },
  };
};

const RING = JSON.stringify({ current: OLD, previous: [OLDEST] });

describe('rotateHashSecret', () => {
  it('first lets containers read under a new key, then write under it, and keeps every key and the oldest last', async () => {
    const secret = secretOf(RING);
    expect(await secret.rotate(0)).toEqual({ step: 1, nextStepAt: new Date(STEP_WAIT_MS).toISOString() });
    const added = secret.ring().previous[0];
    expect(added).toMatch(/^[0-9a-f]{64}$/);
    expect(secret.ring()).toEqual({ current: OLD, previous: [added, OLD, OLDEST] });
    expect(await secret.rotate(20)).toEqual({ step: 2 });
    expect(secret.ring()).toEqual({ current: added, previous: [OLD, OLDEST] });
  });

  it.each([[RING], [JSON.stringify({ current: OLD })]])(
    'goes back to the key before, and then begins with a new key and never with the one that was given up: %s',
    async (text) => {
      const secret = secretOf(text);
      const { previous: before = [] } = JSON.parse(text) as { previous?: string[] };
      await secret.rotate(0);
      await secret.rotate(20);
      const givenUp = secret.ring().current;
      expect(await secret.rotate(21, true)).toEqual({ step: 'back' });
      expect(secret.ring().current).toBe(OLD);
      await expect(secret.rotate(22, true)).rejects.toMatchObject({ code: 'bad_input' });
      expect(await secret.rotate(23)).toMatchObject({ step: 1 });
      await secret.rotate(43);
      expect(secret.ring()).toEqual({
        current: expect.stringMatching(/^[0-9a-f]{64}$/),
        previous: [OLD, givenUp, ...(before.length === 0 ? [OLD] : before)],
      });
      expect(secret.ring().current).not.toBe(givenUp);
    },
  );

  it.each([[RING], [JSON.stringify({ current: OLD })]])(
    'finds at every step what was written at every step before, and changes no buyer id: %s',
    async (text) => {
      const secret = secretOf(text);
      const seen: { readonly written: string; readonly buyerId: string }[] = [];
      const steps = [[0], [20], [21, true], [41], [61], [62, true], [63], [83], [84], [104]] as const;
      for (const [minutes, isBack] of steps) {
        const { current: written } = await secret.hashes().phone(PHONE);
        seen.push({ written, buyerId: await secret.hashes().buyerId(PHONE) });
        await secret.rotate(minutes, isBack);
        const found = await secret.hashes().phone(PHONE);
        expect(seen.filter((each) => !found.isOf(each.written))).toEqual([]);
        expect(await secret.hashes().buyerId(PHONE)).toBe(seen[0]?.buyerId);
      }
    },
  );

  it('refuses step 2 before every container has the new key', async () => {
    const secret = secretOf(RING);
    await secret.rotate(0);
    await expect(secret.rotate(19)).rejects.toMatchObject({ code: 'too_early' });
    expect(secret.versions).toHaveLength(2);
  });

  it('refuses to go back before step 2, which would make no key the current one', async () => {
    const secret = secretOf(JSON.stringify({ current: OLD }));
    await expect(secret.rotate(0, true)).rejects.toMatchObject({ code: 'bad_input' });
    await secret.rotate(0);
    await expect(secret.rotate(30, true)).rejects.toMatchObject({ code: 'bad_input' });
    expect(secret.versions).toHaveLength(2);
  });

  it.each(['', 'not JSON', '{"current":"short"}', '{"previous":[]}'])(
    'changes nothing if the secret is %j, which it does not repeat',
    async (text) => {
      const secret = secretOf(text);
      const error = await secret.rotate(0).catch((reason: Error) => reason);
      expect(error).toMatchObject({ code: 'bad_input' });
      expect(secret.versions).toHaveLength(1);
    },
  );
});
