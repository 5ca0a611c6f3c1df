/** The texts of docs/operators/message-templates.md that operators register. */
import { readFileSync } from 'node:fs';
import { LOCALES, TEMPLATE_PROVIDERS } from '#shared/sms/templates.ts';

const DEPLOY = readFileSync(new URL('../../docs/operators/message-templates.md', import.meta.url), 'utf8');

const CODE = '012345';

/** `kavenegar fa` -> the text as the provider sends it. */
const texts = [...DEPLOY.matchAll(/<!-- template: (\S+ \S+) -->\n```text\n([\s\S]+?)\n```/g)].map(
  ([, name = '', text = '']) => [name, text.replaceAll(/%token|#Code#/g, CODE)] as const,
);

/** A text with characters outside GSM 03.38 has 2 bytes per UTF-16 unit. */
const bytesOf = (text: string): number => (/[^\n -~]/.test(text) ? text.length * 2 : text.length);

describe('the texts of docs/operators/message-templates.md', () => {
  it('are one for each provider and language', () => {
    expect(texts.map(([name]) => name)).toEqual(
      TEMPLATE_PROVIDERS.flatMap((provider) => LOCALES.map((locale) => `${provider} ${locale}`)),
    );
  });

  it.each(texts)(
    'say the code of %s, name the Android app and end with the domain and the code',
    (_, text) => {
      expect(text).toMatch(new RegExp(`^[^\\n]+: ${CODE}\\n[A-Za-z0-9+/]{11}\\n@[a-z0-9.-]+ #${CODE}$`));
    },
  );

  it.each(texts)('are one SMS: %s', (_, text) => {
    expect(bytesOf(text)).toBeLessThanOrEqual(140);
  });
});
