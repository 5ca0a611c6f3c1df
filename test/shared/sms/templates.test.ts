import * as v from 'valibot';
import { type Locale, sellerTemplatesSchema, templateFor } from '#shared/sms/templates.ts';

describe('templateFor', () => {
  const BOTH = { fa: 'stage-fa', en: 'stage-en' };
  const PERSIAN = { fa: 'stage-fa' };

  it.each<[string, Locale, object | undefined, typeof PERSIAN, string]>([
    ["the stage's for a seller without templates", 'en', undefined, BOTH, 'stage-en'],
    ["the seller's own of the language", 'en', { fa: 'own-fa', en: 'own-en' }, BOTH, 'own-en'],
    ["the seller's own if the stage has none of the language", 'en', { en: 'own-en' }, PERSIAN, 'own-en'],
    ["the stage's of the language before the seller's Persian one", 'en', { fa: 'own-fa' }, BOTH, 'stage-en'],
    ["the seller's Persian one for a language without a template", 'en', { fa: 'own-fa' }, PERSIAN, 'own-fa'],
    ["the stage's Persian one for a language without a template", 'en', {}, PERSIAN, 'stage-fa'],
    ["the stage's Persian one beside an English one of the seller", 'fa', { en: 'own-en' }, BOTH, 'stage-fa'],
    ["the seller's Persian one for Persian", 'fa', { fa: 'own-fa', en: 'own-en' }, BOTH, 'own-fa'],
  ])('returns %s', (_what, locale, own, stage, template) => {
    expect(templateFor(locale, own, stage)).toBe(template);
  });
});

describe('sellerTemplatesSchema', () => {
  it('accepts a name at kavenegar and a number at sms-ir, for one language or both', () => {
    const templates = { kavenegar: { fa: 'kaveh-books', en: 'Kaveh_Books.2' }, 'sms-ir': { en: 200_002 } };
    expect(v.parse(sellerTemplatesSchema, templates)).toEqual(templates);
    expect(v.parse(sellerTemplatesSchema, {})).toEqual({});
  });

  it.each([
    { kavenegar: { fa: 200_001 } },
    { kavenegar: { fa: '' } },
    { kavenegar: { fa: 'two words' } },
    { kavenegar: { fa: 'a'.repeat(65) } },
    { 'sms-ir': { fa: 'kaveh-books' } },
    { 'sms-ir': { fa: 0 } },
    { 'sms-ir': { fa: 1.5 } },
  ])('rejects %j', (templates) => {
    expect(v.is(sellerTemplatesSchema, templates)).toBe(false);
  });
});
