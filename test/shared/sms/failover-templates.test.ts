import * as v from 'valibot';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import type { CodeMessage } from '#shared/sms/port.ts';
import { type Locale, sellerTemplatesSchema, templateFor } from '#shared/sms/templates.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { messageTo } from '#test/fakes/sms.ts';
import { failureOf, neverAborted, summaryOf } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { type Simulators, startSimulators } from '#test/simulators/server.ts';

quietLog();
let simulators: Simulators;
beforeEach(async () => {
  simulators = await startSimulators();
});
afterEach(() => simulators.close());

const PHONE = '+989990000001';

const OWN = { kavenegar: { fa: 'kaveh-books', en: 'kaveh-books-en' } };

const sendBy = (providers: readonly string[], own: Partial<CodeMessage>) =>
  smsSenderFrom(providers, fixedSecret(JSON.stringify(simulators.providerSecret))).sendCode(
    messageTo(PHONE, '123456', own),
    neverAborted(),
  );

const sent = () => simulators.messages(PHONE).map(({ provider, template }) => [provider, template]);

describe('a failover', () => {
  it.each([
    ['fa', 100_001],
    ['en', 100_002],
  ] as const)(
    "sends in %s with the stage's template of the second provider for a seller with templates of the first one",
    async (locale, template) => {
      await simulators.setFault('kavenegar', 'balance');
      await sendBy(['kavenegar', 'sms-ir'], { locale, templates: OWN });
      expect(sent()).toEqual([['sms-ir', template]]);
    },
  );

  it("sends with the seller's template of each provider", async () => {
    const templates = { ...OWN, 'sms-ir': { fa: 200_001 } };
    await sendBy(['kavenegar', 'sms-ir'], { templates });
    await simulators.setFault('kavenegar', 'balance');
    await sendBy(['kavenegar', 'sms-ir'], { templates });
    expect(sent()).toEqual([
      ['sms-ir', 200_001],
      ['kavenegar', 'kaveh-books'],
    ]);
  });

  it('follows when the first provider does not have the template of the seller', async () => {
    await sendBy(['kavenegar', 'sms-ir'], { templates: { kavenegar: { fa: 'not-approved' } } });
    expect(sent()).toEqual([['sms-ir', 100_001]]);
  });
});

describe('a template that the only provider does not have', () => {
  it.each([
    ['kavenegar', { kavenegar: { fa: 'not-approved' } }],
    ['sms-ir', { 'sms-ir': { fa: 999_999 } }],
  ])('is a rejected message that %s did not send', async (provider, templates) => {
    const failure = await failureOf(sendBy([provider], { templates }));
    expect(summaryOf(failure)).toBe('rejected, not_sent, up');
    expect(sent()).toEqual([]);
  });
});

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
