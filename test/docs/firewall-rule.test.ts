import { readFileSync } from 'node:fs';
import { newApiKey } from '#shared/api-keys/secret.ts';

const runbook = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

/** The rule that a person adds by hand while malformed keys flood the service. */
const [, json = ''] = /<!-- WAF rule: malformed keys -->\s+```json\n([\s\S]+?)```/.exec(runbook) ?? [];

describe('the firewall rule of docs/operations.md', () => {
  const { Action, Statement } = JSON.parse(json);
  const [isPresent, isMalformed] = Statement.AndStatement.Statements;
  const { RegexString, FieldToMatch } = isMalformed.NotStatement.Statement.RegexMatchStatement;

  test('blocks a header X-Api-Key that is present and has not the form of a key of prod', () => {
    expect(Action).toEqual({ Block: {} });
    expect(FieldToMatch).toEqual({ SingleHeader: { Name: 'x-api-key' } });
    expect(isPresent.SizeConstraintStatement).toMatchObject({
      FieldToMatch,
      ComparisonOperator: 'GE',
      Size: 1,
    });
  });

  test('lets every key pass that the service issues in prod', () => {
    const form = new RegExp(RegexString);
    for (let count = 0; count < 100; count += 1) expect(newApiKey('blk_live_')).toMatch(form);
  });

  test.each([
    ['is too short', 'blk_live_short'],
    ['is too long', `${newApiKey('blk_live_')}0`],
    ['is a test key', newApiKey('blk_test_')],
    ['has another character', `${newApiKey('blk_live_').slice(0, -1)}-`],
    ['is a space', ' '],
  ])('blocks a key that %s', (_, key) => {
    expect(key).not.toMatch(new RegExp(RegexString));
  });
});
