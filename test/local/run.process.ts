import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

describe('runService', () => {
  it('keeps the process running after an error that no request caught, and shows no detail of it', async () => {
    const module = new URL('../../local/run.ts', import.meta.url).href;
    const program = `import { runService } from '${module}';
      const exitCode = await runService({ port: 0, folder: '/dev/null/none', inMemory: true });
      Promise.reject(new Error('detail'));
      setImmediate(() => process.stdout.write('running ' + exitCode, () => process.exit()));`;
    const args = ['--input-type=module', '--eval', program];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toMatch(/running 1$/);
    expect(stderr).toBe(
      'Nothing can be kept in /dev/null/none (ENOTDIR): choose another folder with --data.\nAn unexpected error happened outside a request: see service.log.\n',
    );
  });
});
