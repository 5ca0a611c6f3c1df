import { CTRL_C, CTRL_D, itOnTerminal, onTerminal } from './pseudo-terminal.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

/** The CLI in a process and a terminal of its own, as a person uses it. */
let shell: TestShell;
let seller: { seller_id: string };
beforeAll(async () => {
  shell = await startTestShell();
  seller = await shell.json('sellers', 'create', 'Kaveh Books, the Shop of Tehran and Isfahan');
});
afterAll(() => shell.stop());

const inTerminal = (options: Parameters<typeof onTerminal>[0], ...args: string[]) =>
  onTerminal(options, '--data', shell.folder, ...args);

describe('a question', () => {
  itOnTerminal('is answered by Ctrl-C or Ctrl-D with no change and exit code 130', async () => {
    for (const keys of [CTRL_C, CTRL_D]) {
      const answers = [['[y/N] ', keys]] as const;
      const { exitCode, screen } = await inTerminal({ answers }, 'sellers', 'suspend', seller.seller_id);
      expect({ exitCode, last: screen.split('\n').at(-2) }).toEqual({
        exitCode: 130,
        last: 'Nothing was changed.',
      });
    }
    expect(await shell.json('sellers', 'show', seller.seller_id)).toMatchObject({ status: 'active' });
  });

  itOnTerminal('asks for a phone that is not on the command line', async () => {
    const added = await inTerminal({ answers: [['Phone: ', '09127654321\n']] }, 'buyers', 'add');
    expect(added).toMatchObject({ exitCode: 0, screen: expect.stringContaining('byr_') });
    expect(await shell.json('buyers', 'show', '09127654321')).toMatchObject({ buyer_id: expect.any(String) });
  });
});

describe('a result', () => {
  itOnTerminal('that is an error is one line of JSON with --json, however long', async () => {
    const { screen } = await inTerminal({ columns: 50 }, 'keys', 'show', 'No such key', '--json');
    expect(JSON.parse(screen).error.code).toBe('key_not_found');
  });
});
