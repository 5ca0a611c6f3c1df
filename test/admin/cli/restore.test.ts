import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeEach(async () => {
  shell = await startTestShell();
});
afterEach(() => shell.stop());

const newKey = async () => {
  const { seller_id } = await shell.json('sellers', 'create', 'Kaveh Books');
  return shell.json('keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read');
};

describe('keys find', () => {
  it('shows the key of a secret from stdin, and repeats no secret that it does not find', async () => {
    const { key_id, key } = await newKey();
    const found = await shell.cliWithInput(`${key}\n`, 'keys', 'find', '--json');
    expect(JSON.parse(found.out)).toMatchObject({ key_id });
    const unknown = await shell.cliWithInput('blk_test_unknown', 'keys', 'find');
    expect(unknown).toMatchObject({ exitCode: 1, error: expect.stringContaining('No key has this secret') });
    expect(unknown.error).not.toContain('blk_test_unknown');
  });
});

describe('hash-secret rotate', () => {
  it('is refused for the local service', async () => {
    expect(await shell.cli('hash-secret', 'rotate', '--yes')).toMatchObject({ exitCode: 2 });
  });
});
