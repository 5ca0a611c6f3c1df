import { providersNamed } from '#shared/providers/named.ts';

const KNOWN = [{ name: 'jibit' }, { name: 'zohal' }];

it('gives the providers in the order in which they are named', () => {
  expect(providersNamed(['zohal', 'jibit'], KNOWN).map(({ name }) => name)).toEqual(['zohal', 'jibit']);
});

it.each([
  [['acme'], 'unknown provider "acme"; there are: jibit, zohal'],
  [['jibit', 'Zohal'], 'unknown provider "Zohal"; there are: jibit, zohal'],
  [['jibit', 'jibit'], 'a provider is named twice: jibit, jibit'],
  [[], 'no provider is named; there are: jibit, zohal'],
])('refuses %j and says what there is', (names, message) => {
  expect(() => providersNamed(names, KNOWN)).toThrow(message);
});
