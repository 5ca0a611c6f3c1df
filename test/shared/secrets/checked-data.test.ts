import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { fixedSecret } from '#test/fakes/secret.ts';

const OLD = 'old-'.padEnd(40, 'a');
const NEW = 'new-'.padEnd(40, 'b');

const hashesUnder = (current: string, ...previous: string[]) =>
  keyedHashesFrom(fixedSecret(JSON.stringify({ current, previous })));

it('the hash of the checked data is the same for the same birth date and phone hash, in every container', async () => {
  const hash = await hashesUnder(NEW, OLD).checkedData('1991-04-04', 'phone hash');
  expect(await hashesUnder(NEW).checkedData('1991-04-04', 'phone hash')).toBe(hash);
  expect(hash).not.toContain('1991');
});

it('the hash of the checked data differs by the birth date, the phone hash and the secret', async () => {
  const hashes = await Promise.all([
    hashesUnder(NEW).checkedData('1991-04-04', 'phone hash'),
    hashesUnder(NEW).checkedData('1991-04-05', 'phone hash'),
    hashesUnder(NEW).checkedData('1991-04-04', 'other phone hash'),
    hashesUnder(OLD).checkedData('1991-04-04', 'phone hash'),
  ]);
  expect(new Set(hashes).size).toBe(4);
});
