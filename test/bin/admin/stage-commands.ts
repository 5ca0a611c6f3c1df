import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Feature, itWith } from '#test/scenarios/target.ts';
import { startCommand } from './cli-process.ts';

/** A stage in AWS, or in what stands in for it, and what it lacks. */
export interface StageOptions {
  readonly stage: string;
  readonly lacks?: readonly Feature[];
  /** What a command needs besides the environment of this process. */
  readonly environment?: () => Readonly<Record<string, string>>;
}

/** Whom an audit names in AWS: an identity, not a user of this machine. */
const AWS_IDENTITY = /^arn:aws[\w-]*:(?:sts|iam):/;

const PHONES = 300;

/**
 * The admin commands against a stage, each in a process of its own. Those that flush the authorizer's cache need an API Gateway that
 * can.
 */
export const stageCommands = ({ stage, lacks = [], environment = () => ({}) }: StageOptions): void => {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back.
  const admin = async (...args: string[]): Promise<any> => {
    const ended = await startCommand(['--stage', stage, '--json', ...args], environment()).ended;
    expect(ended).toMatchObject({ exitCode: 0, error: '' });
    return JSON.parse(ended.out);
  };
  const whole = itWith({ lacks, target: unused }, 'exact key enforcement');
  let seller: { seller_id: string };
  let key: { key_id: string; key: string };

  it('create a seller and list it', async () => {
    seller = await admin('sellers', 'create', 'Kaveh Books');
    expect((await admin('sellers', 'list')).sellers).toContainEqual(seller);
  }, 60_000);

  it('issue a key, and show all of it but its secret', async () => {
    key = await admin('keys', 'issue', seller.seller_id, '--plan', 'free', '--scopes', 'users:read');
    const { key: secret, ...shown } = key;
    expect(await admin('keys', 'list', seller.seller_id)).toEqual({ keys: [shown] });
    expect(secret).toMatch(/^blk_(?:live|test)_[0-9A-Za-z]{38}$/);
  }, 60_000);

  it('import buyers, show one and remove it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'admin-stage-'));
    const file = join(folder, 'buyers.csv');
    const phones = Array.from({ length: PHONES }, (_, index) => `0999${String(index).padStart(7, '0')}`);
    await writeFile(file, `phone\n${phones.join('\n')}\n`);
    expect(await admin('buyers', 'import', file)).toMatchObject({ added: PHONES, rejected: 0 });
    expect(await admin('buyers', 'import', file)).toMatchObject({ added: 0, already_registered: PHONES });
    await rm(folder, { recursive: true });
    const buyer = await admin('buyers', 'show', phones[0] ?? '');
    expect(await admin('buyers', 'remove', phones[0] ?? '', '--yes')).toMatchObject(buyer);
  }, 120_000);

  it('tell what was done and by whom', async () => {
    const { records } = await admin('audit', key.key_id);
    expect(records).toMatchObject([{ action: 'key.issued', actor: expect.stringMatching(AWS_IDENTITY) }]);
  }, 60_000);

  whole(
    'assign a plan, set scopes, rotate, suspend, resume and revoke, and leave nothing for reconcile to find',
    async () => {
      expect(await admin('keys', 'assign', key.key_id, '--plan', 'professional')).toMatchObject({
        plan: 'professional',
      });
      expect(await admin('keys', 'scopes', key.key_id, '--set', 'users:write')).toMatchObject({
        scopes: ['users:write'],
      });
      expect((await admin('keys', 'rotate', key.key_id, '--grace', '1h')).secrets).toHaveLength(2);
      expect(await admin('sellers', 'suspend', seller.seller_id, '--yes')).toMatchObject({
        status: 'suspended',
      });
      expect(await admin('sellers', 'resume', seller.seller_id)).toMatchObject({ status: 'active' });
      expect(await admin('usage', key.key_id)).toMatchObject({ current_minute: { limit: 1000 } });
      expect(await admin('reconcile')).toMatchObject({ differences: [] });
      expect(await admin('keys', 'revoke', key.key_id, '--yes')).toMatchObject({ status: 'revoked' });
      expect(await admin('reconcile')).toMatchObject({ differences: [] });
    },
    120_000,
  );
};

/** `itWith` looks at what is lacking alone. */
const unused = (): never => {
  throw new Error('no request is made here');
};
