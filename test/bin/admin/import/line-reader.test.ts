import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Line, type Place, readLines } from '#bin/admin/import/line-reader.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lines-'));
});
afterAll(() => rm(folder, { recursive: true }));

const linesOf = async (content: string | Buffer, from: Place = { offset: 0, lines: 0 }): Promise<Line[]> => {
  const file = join(folder, 'file');
  await writeFile(file, content);
  const lines: Line[] = [];
  for await (const some of readLines(file, from)) lines.push(...some);
  return lines;
};

it('numbers lines and tells where each ends, whatever ends them', async () => {
  expect(await linesOf('a\r\n\nپ\nlast')).toEqual([
    { number: 1, text: 'a', end: 3 },
    { number: 2, text: '', end: 4 },
    { number: 3, text: 'پ', end: 7 },
    { number: 4, text: 'last', end: 11 },
  ]);
  expect(await linesOf('')).toEqual([]);
});

it('goes on from where any line ended as if it had read all before it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ''))),
      async (texts) => {
        const content = texts.map((text) => `${text}\n`).join('');
        const all = await linesOf(content);
        expect(all.map(({ text }) => text)).toEqual(texts);
        for (const [index, { end, number }] of all.entries()) {
          expect(await linesOf(content, { offset: end, lines: number })).toEqual(all.slice(index + 1));
        }
      },
    ),
    { numRuns: 20 },
  );
});

it('reads lines that lie across the pieces a file is read in', async () => {
  const texts = Array.from({ length: 60_000 }, (_, index) => `line ${index} ${'پ'.repeat(index % 30)}`);
  const lines = await linesOf(texts.join('\n'));
  expect(lines.map(({ text }) => text)).toEqual(texts);
  expect(lines.at(-1)?.end).toBe(Buffer.byteLength(texts.join('\n')));
});

it('passes over a line that is too long, however long, and counts it as one', async () => {
  const lines = await linesOf(
    Buffer.concat([Buffer.from('a\n'), Buffer.alloc(5_000_000, 'x'), Buffer.from('\nb\n')]),
  );
  expect(lines).toEqual([
    { number: 1, text: 'a', end: 2 },
    { number: 2, text: undefined, end: 5_000_003 },
    { number: 3, text: 'b', end: 5_000_005 },
  ]);
});
