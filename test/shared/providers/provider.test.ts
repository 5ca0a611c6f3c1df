import * as v from 'valibot';
import { baseUrl, credential, provider, providersNamed } from '#shared/providers/provider.ts';

describe('provider', () => {
  const { open } = provider({
    name: 'acme',
    credentials: v.object({ key: credential, base_url: baseUrl('https://acme.example') }),
    open: (credentials) => credentials,
  });

  it.each([
    ['is a string', 'sesame-42', 'acme'],
    ['lacks a credential', {}, 'acme.key'],
    ['has an empty credential', { key: '' }, 'acme.key'],
    ['has a credential of another type', { key: 424242 }, 'acme.key'],
    ['has only wrong values', { key: 42, base_url: 'http://sesame-42.example' }, 'acme.key, acme.base_url'],
  ])('names what is wrong, without its value, when a section %s', (_how, section, names) => {
    expect(() => open(section)).toThrow(new Error(`missing or wrong in the provider secret: ${names}`));
  });

  it('throws an error that names a missing section', () => {
    expect(() => open(undefined)).toThrow('the provider secret has no section "acme"');
  });

  const baseUrlOf = (base_url?: string) => open({ key: 'k', base_url }).base_url;

  it.each([
    ['https://relay.example', 'https://relay.example'],
    ['https://relay.example:8443/ide/', 'https://relay.example:8443/ide'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['http://localhost:4000/', 'http://localhost:4000'],
    ['http://[::1]:4000', 'http://[::1]:4000'],
  ])('accepts the base_url %s', (url, used) => {
    expect(baseUrlOf(url)).toBe(used);
  });

  it.each([
    'http://relay.example',
    'http://127.0.0.1.relay.example',
    'http://localhost.relay.example',
    'ftp://localhost',
    'https://user:password@relay.example',
    'https://relay.example?x=1',
    'https://relay.example#x',
    'relay.example',
    '',
  ])('rejects the base_url %j', (url) => {
    expect(() => baseUrlOf(url)).toThrow('acme.base_url');
  });

  it("uses the provider's own base_url when none is given", () => {
    expect(baseUrlOf()).toBe('https://acme.example');
  });
});

describe('providersNamed', () => {
  const KNOWN = [{ name: 'jibit' }, { name: 'zohal' }];

  it('returns the providers in the order of the names', () => {
    expect(providersNamed(['zohal', 'jibit'], KNOWN).map(({ name }) => name)).toEqual(['zohal', 'jibit']);
  });

  it.each([
    [['acme'], 'unknown provider "acme"; there are: jibit, zohal'],
    [['jibit', 'Zohal'], 'unknown provider "Zohal"; there are: jibit, zohal'],
    [['jibit', 'jibit'], 'a provider is named twice: jibit, jibit'],
    [[], 'no provider is named; there are: jibit, zohal'],
  ])('rejects the names %j and lists the known ones', (names, message) => {
    expect(() => providersNamed(names, KNOWN)).toThrow(message);
  });
});
