import { rotateKey, setExpiry } from '#admin/operations/change-key.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const DAY = 86_400;

const newAdministration = useAdministration();
let deployment: TestAdministration;
beforeEach(async () => {
  deployment = await newAdministration();
});

const nowSeconds = () => Math.floor(deployment.clock() / 1000);
const endOf = async (secret: string) =>
  (await keySecretStore(deployment.table).findSecret(hashApiKey(secret)))?.expires_at;

describe('rotateKey', () => {
  it('ends the old secret at the earlier of its own end and now plus grace, and the new one with the key', async () => {
    const { key, secret: old } = await deployment.issued({ expiresAt: nowSeconds() + DAY });
    const keyEnd = key.expires_at;
    const { secret } = await rotateKey(deployment.admin, key.key_id, 2 * DAY);
    expect([await endOf(old), await endOf(secret)]).toEqual([keyEnd, keyEnd]);
    const { secret: third } = await rotateKey(deployment.admin, key.key_id, 60);
    expect([await endOf(old), await endOf(secret), await endOf(third)]).toEqual([
      nowSeconds() + 60,
      nowSeconds() + 60,
      keyEnd,
    ]);
  });

  it('does not extend an old secret when the expiry of its key is extended', async () => {
    const { key, secret: old } = await deployment.issued({ expiresAt: nowSeconds() + DAY });
    const { secret } = await rotateKey(deployment.admin, key.key_id, 2 * DAY);
    await setExpiry(deployment.admin, key.key_id, undefined);
    expect([await endOf(old), await endOf(secret)]).toEqual([key.expires_at, undefined]);
  });

  it('refuses an eleventh secret', async () => {
    const { key } = await deployment.issued();
    for (let count = 0; count < 9; count += 1) await rotateKey(deployment.admin, key.key_id, DAY);
    await expect(rotateKey(deployment.admin, key.key_id, DAY)).rejects.toMatchObject({
      code: 'too_many_secrets',
    });
  });

  it('makes a third secret beside two valid ones, and without a grace period ends all others', async () => {
    const { key, secret: first } = await deployment.issued();
    const { secret: second } = await rotateKey(deployment.admin, key.key_id, DAY);
    const { secret: third } = await rotateKey(deployment.admin, key.key_id, DAY);
    const works = (...secrets: readonly string[]) => Promise.all(secrets.map(deployment.works));
    expect(await works(first, second, third)).toEqual([true, true, true]);
    const { secret: fourth } = await rotateKey(deployment.admin, key.key_id, 0);
    expect(await works(first, second, third, fourth)).toEqual([false, false, false, true]);
  });
});
