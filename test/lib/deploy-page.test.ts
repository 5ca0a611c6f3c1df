import { readFileSync } from 'node:fs';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';
import { COMPLETE, resourcesOf, templatesOf } from './synthesized.ts';

const page = readFileSync(new URL('../../docs/operators/deploy.md', import.meta.url), 'utf8');

const [, section = ''] = /```json\n([\s\S]+?)```/.exec(page) ?? [];

describe('docs/operators/deploy.md', () => {
  const withCredentials = [...IDENTITY_PROVIDERS, ...SMS_PROVIDERS].filter(
    ({ credentials }) => credentials !== undefined,
  );

  test.each(withCredentials.map((provider) => [provider.name, provider] as const))(
    'shows the credentials of %s in the form that its adapter accepts',
    (name, provider) => {
      expect(() => provider.open(JSON.parse(section)[name])).not.toThrow();
    },
  );

  test('has for a topic of your own the statements of the topic that the stack makes', () => {
    const [, text = ''] = /<!-- Topic policy -->\n```json\n([\s\S]+?)```/.exec(page) ?? [];
    const { api } = templatesOf('prod', COMPLETE);
    const [policy] = Object.values(resourcesOf(api, 'AWS::SNS::TopicPolicy'));
    const [topic] = Object.keys(resourcesOf(api, 'AWS::SNS::Topic'));
    const made = JSON.stringify(policy?.Properties.PolicyDocument.Statement)
      .replaceAll(`{"Ref":"${topic}"}`, '"<topic ARN>"')
      .replaceAll('{"Ref":"AWS::AccountId"}', '"<account>"');
    expect(JSON.parse(made)).toEqual(
      expect.arrayContaining(JSON.parse(text).map((statement: object) => expect.objectContaining(statement))),
    );
  });
});
