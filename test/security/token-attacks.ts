import { forgedTokens } from '#test/fakes/buyer-tokens.ts';
import { itForAll } from '#test/for-all.ts';
import { expectProblem, type Reply, withoutRequestId } from '#test/scenarios/call.ts';
import { type AttackOptions, attackBy, keyFor, named } from './attack.ts';

/** Forged access tokens on every row that takes one, as far as strangers can make them. The handlers' tests add those of a stolen signing key. */
export const tokenAttacks = (options: AttackOptions): void => {
  const { routes, target, token } = options;
  const attack = attackBy(options);
  const rows = named(routes.filter(({ access }) => access.by === 'buyer'));
  if (rows.length === 0) return;

  describe('a forged access token', () => {
    itForAll(rows)('gets 401 with one and the same body, whatever is forged', async (_name, route) => {
      const replies: Reply[] = [];
      for (const header of Object.values(await forgedTokens({ good: token() }))) {
        replies.push(await attack(route, { key: keyFor(route, target()), authorization: header ?? null }));
      }
      for (const reply of replies) expectProblem(reply, 'invalid_access_token');
      expect(new Set(replies.map(withoutRequestId)).size).toBe(1);
    });
  });
};
