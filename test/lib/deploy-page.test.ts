import { readFileSync } from 'node:fs';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';

const page = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');

const [, section = ''] = /```json\n([\s\S]+?)```/.exec(page) ?? [];

describe('docs/deploy.md', () => {
  const withCredentials = [...IDENTITY_PROVIDERS, ...SMS_PROVIDERS].filter(
    ({ credentials }) => credentials !== undefined,
  );

  test.each(withCredentials.map((provider) => [provider.name, provider] as const))(
    'shows the credentials of %s in the form that its adapter accepts',
    (name, provider) => {
      expect(() => provider.open(JSON.parse(section)[name])).not.toThrow();
    },
  );
});
