import { readFileSync } from 'node:fs';
import { STAGES } from '#lib/stages.ts';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';

const page = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');

const [, credentials = ''] = /```json\n([\s\S]+?)```/.exec(page) ?? [];

describe('docs/deploy.md', () => {
  test.each([...IDENTITY_PROVIDERS, ...SMS_PROVIDERS].map((provider) => [provider.name, provider] as const))(
    'shows the credentials of %s in the form that its adapter accepts',
    (name, provider) => {
      expect(() => provider.open(JSON.parse(credentials)[name])).not.toThrow();
    },
  );

  test('lists exactly the options of a stage', () => {
    const named = [...page.matchAll(/^\| `(\w+)` \|.*\|.*\|.*\|$/gm)].map(([, option]) => option);
    expect(named.sort()).toEqual(Object.keys(STAGES.prod).sort());
  });

  test('creates the secret that the stage reads', () => {
    expect(page).toContain(`--name ${STAGES.dev.providers.secretName} `);
  });
});
