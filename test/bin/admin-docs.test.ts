import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { comparable } from '#bin/admin-docs/comparable.ts';

it('docs/admin.md shows what the commands answer today', async () => {
  const program = fileURLToPath(new URL('../../bin/admin-docs.ts', import.meta.url));
  const child = spawn(process.execPath, [program, '--check'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let error = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  const [exitCode] = await once(child, 'close');
  expect({ exitCode, error }).toEqual({ exitCode: 0, error: '' });
});

it('leaves out of the comparison what differs from run to run, and nothing else', () => {
  const run = (id: string, day: string, width: number) =>
    `┌${'─'.repeat(width)}┐\n│ ${id.padEnd(width)} │ ${day} 13:10 │ local:${id.slice(4, 9)} │ free │\n"seconds": ${width}.5`;
  const one = run('sel_MOE4yKF0scHelzVIqDHuQ5', '2026-11-21', 26);
  expect(comparable(one)).toBe(comparable(run('sel_gRddDvsOKebK7Y5rR9Fans', '2027-01-01', 30)));
  expect(comparable(one)).not.toBe(comparable(one.replace('free', 'professional')));
});
