import { answersOf, consoleCommandsOf, linesNotPrinted } from './console.ts';

const page = `
\`\`\`console
$ npm run admin -- buyers erase "a phone"      # asks
Erase this buyer for good? It is linked with 2 sellers as 3 users. [y/N] y
Erased 3 users of 2 sellers.
\`\`\`
`;

test('a console block has commands, answers, and lines that may differ in colors, spaces and numbers only', () => {
  const [erase, ...others] = consoleCommandsOf(page);
  if (erase === undefined) throw new Error('no command was found');
  expect([erase.words, others]).toEqual([['buyers', 'erase', 'a phone'], []]);
  expect(answersOf(erase)).toEqual([['[y/N]', 'y']]);
  const asked = 'Erase this buyer for good?  It is linked with 1 seller as 1 user. [y/N] y\n';
  expect(linesNotPrinted(`${asked}\u001b[1mErased\u001b[22m 1 user of 1 seller.`, erase)).toEqual([]);
  expect(linesNotPrinted(`${asked}Removed 3 users of 2 sellers.`, erase)).toEqual([
    'Erased 3 users of 2 sellers.',
  ]);
});
