import { allRoutes } from '#shared/routes.ts';
import { forgedTokens } from '#test/fakes/buyer-tokens.ts';
import { itForAll } from '#test/for-all.ts';
import { expectProblem, type Reply, withoutRequestId } from '#test/scenarios/call.ts';
import { type AttackOptions, attackBy, keyFor, named } from './attack.ts';

/** Forged access tokens on every row that takes one, as far as strangers can make them. verify.test.ts adds those of a stolen signing key. */
export const tokenAttacks = (options: AttackOptions): void => {
  const { target, token } = options;
  const attack = attackBy(options);
  const rows = named(allRoutes.filter(({ access }) => access.by === 'buyer'));

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
