import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Feature, itWith } from '#test/scenarios/target.ts';
import { runCommand } from './in-process.ts';

/** A stage in AWS or in a simulation of it, and the features that it lacks. */
interface StageOptions {
  readonly stage: string;
  readonly lacks?: readonly Feature[];
}

/** The actor of an audit record in AWS: an identity, not a user of this machine. */
const AWS_IDENTITY = /^arn:aws[\w-]*:(?:sts|iam):/;

const PHONES = 300;

/**
 * Tests the admin commands against a stage. Commands that flush the authorizer cache are skipped where
 * API Gateway cannot do that.
 */
export const stageCommands = ({ stage, lacks = [] }: StageOptions): void => {
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of the result.
  const admin = async (...args: string[]): Promise<any> => {
    const ended = await runCommand(['--stage', stage, '--json', ...args]);
    expect(ended).toMatchObject({ exitCode: 0, error: '' });
    return JSON.parse(ended.out);
  };
  const whole = itWith({ lacks, target: unused }, 'exact key enforcement');
  let seller: { seller_id: string };
  let key: { key_id: string; key: string };

  it('creates a seller and lists it', async () => {
    seller = await admin('sellers', 'create', 'Kaveh Books', '--yes');
    expect((await admin('sellers', 'list')).sellers).toContainEqual(seller);
  });

  it('issues a key and shows it without its secret', async () => {
    key = await admin('keys', 'issue', seller.seller_id, '--plan', 'free', '--scopes', 'users:read');
    const { key: secret, ...shown } = key;
    expect(await admin('keys', 'list', seller.seller_id)).toEqual({ keys: [shown] });
    expect(secret).toMatch(/^blk_(?:live|test)_[0-9A-Za-z]{38}$/);
  });

  it('imports buyers, shows one, removes it, and unlocks and erases another', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'admin-stage-'));
    const file = join(folder, 'phones.txt');
    const phones = Array.from({ length: PHONES }, (_, index) => `0999${String(index).padStart(7, '0')}`);
    await writeFile(file, phones.join('\n'));
    expect(await admin('buyers', 'import', file)).toMatchObject({ added: PHONES, rejected: 0 });
    expect(await admin('buyers', 'import', file)).toMatchObject({ added: 0, already_registered: PHONES });
    await rm(folder, { recursive: true });
    const { buyer_id } = await admin('buyers', 'show', phones[0] ?? '');
    expect(await admin('buyers', 'remove', phones[0] ?? '', '--yes')).toMatchObject({ buyer_id });
    expect(await admin('buyers', 'unlock', phones[1] ?? '')).toEqual({ unlocked: 0 });
    expect(await admin('buyers', 'erase', phones[1] ?? '', '--yes')).toMatchObject({ registrations: 1 });
  }, 120_000);

  it('lists the users of a seller and the limits of a key', async () => {
    expect(await admin('users', 'list', seller.seller_id)).toMatchObject({ data: [], total: 0 });
    const { limits } = await admin('keys', 'limits', key.key_id);
    expect(limits).toContainEqual(expect.objectContaining({ name: 'sms-per-hour', used: 0 }));
  });

  it('shows who issued a key', async () => {
    const { records } = await admin('audit', key.key_id);
    expect(records).toMatchObject([{ action: 'key.issued', actor: expect.stringMatching(AWS_IDENTITY) }]);
  });

  whole(
    'assigns, sets scopes and limits, rotates, suspends, resumes and revokes, and leaves no difference',
    async () => {
      expect(await admin('keys', 'assign', key.key_id, '--plan', 'professional')).toMatchObject({
        plan: 'professional',
      });
      expect(await admin('keys', 'scopes', key.key_id, '--set', 'users:write')).toMatchObject({
        scopes: ['users:write'],
      });
      await admin('keys', 'limits', key.key_id, '--set', 'sms-per-hour=10000');
      expect((await admin('keys', 'rotate', key.key_id, '--grace', '1h')).secrets).toHaveLength(2);
      expect(await admin('sellers', 'suspend', seller.seller_id, '--yes')).toMatchObject({
        status: 'suspended',
      });
      expect(await admin('sellers', 'resume', seller.seller_id)).toMatchObject({ status: 'active' });
      expect(await admin('usage', key.key_id)).toMatchObject({ data: [] });
      expect(await admin('reconcile')).toMatchObject({ differences: [] });
      expect(await admin('keys', 'revoke', key.key_id, '--yes')).toMatchObject({ status: 'revoked' });
      expect(await admin('reconcile')).toMatchObject({ differences: [] });
    },
    120_000,
  );
};

/** `itWith` reads only the features that are lacking. */
const unused = (): never => {
  throw new Error('no request is made here');
};
