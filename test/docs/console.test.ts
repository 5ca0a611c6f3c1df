import { answersOf, consoleCommandsOf, linesNotPrinted } from './console.ts';

const page = `
\`\`\`console
$ npm run admin -- sellers create "Kaveh Books"      # prints the seller id
$ npm run admin -- buyers erase -
Phone: 09990001234
Erase this buyer for good? It is linked with 2 sellers as 3 users. [y/N] y
Erased 3 users of 2 sellers.
\`\`\`
`;

const [create, erase] = consoleCommandsOf(page);

describe('a console block of a page', () => {
  it('has commands with their words, without comments', () => {
    expect(create).toEqual({ words: ['sellers', 'create', 'Kaveh Books'], shown: [] });
    expect(erase?.words).toEqual(['buyers', 'erase', '-']);
  });

  it('shows what is typed at each question', () => {
    expect(erase && answersOf(erase)).toEqual([
      ['Phone:', '09990001234'],
      ['[y/N]', 'y'],
    ]);
  });

  it('may differ from the terminal in colors, spaces and numbers, and in nothing else', () => {
    const printed = [
      'Phone:  09990005678',
      'Erase this buyer for good? It is linked with 1 seller as 1 user. [y/N] y',
    ].join('\n');
    const missing = (last: string) => erase && linesNotPrinted(`${printed}\n${last}`, erase);
    expect(missing('\u001b[1mErased\u001b[22m 1 user of 1 seller.')).toEqual([]);
    expect(missing('Removed 3 users of 2 sellers.')).toEqual(['Erased 3 users of 2 sellers.']);
  });
});
