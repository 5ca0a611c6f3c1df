import { call, expectProblem, type Reply } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

interface KeyView {
  readonly id: string;
  readonly plan: string;
  readonly scopes: readonly string[];
  readonly last_four: string;
  readonly limits: readonly { readonly name: string; readonly maximum: number; readonly remaining: number }[];
}

const readKey = (target: Target, key: string): Promise<Reply> => call(target, '/v1/key', { key });

const rotate = (target: Target, key: string): Promise<Reply> =>
  call(target, '/v1/key/secrets', { key, body: { grace_hours: 1 } });

/** What a seller sees and changes of its own key. */
export const keyScenarios = (options: ScenarioOptions): void => {
  const { target } = options;

  describe('the own key', () => {
    it('shows its plan, scopes and limits to any valid key, this request counted', async () => {
      const key = target().keys.read_only;
      const reply = await readKey(target(), key);
      expect(reply.status).toBe(200);
      const shown = reply.json<KeyView>();
      expect([shown.plan, shown.scopes, shown.last_four]).toEqual([
        'professional',
        ['users:read'],
        key.slice(-4),
      ]);
      const [plan] = shown.limits;
      expect([plan?.name, plan?.maximum]).toEqual(['professional', 1000]);
      expect(reply.headers.get('RateLimit')).toContain(`"professional";r=${plan?.remaining};`);
    });

    itWith(options, 'sandbox')(
      'shows a hundred times higher limits of checks where the registry is the sandbox',
      async () => {
        const { limits } = (await readKey(target(), target().keys.read_only)).json<KeyView>();
        expect(limits.map(({ name, maximum }) => [name, maximum])).toEqual([
          ['professional', 1000],
          ['sms-per-hour', 2000],
          ['failed-checks-per-hour', 10_000],
          ['refused-links-per-hour', 100_000],
          ['failed-verifies-per-hour', 1000],
          ['paid-checks-per-day', 2_000_000],
        ]);
      },
    );

    it('shows what it used in the hours in which it used anything', async () => {
      const key = target().keys.write_only;
      await readKey(target(), key);
      const reply = await call(target(), '/v1/key/usage?days=1', { key });
      expect(reply.status).toBe(200);
      const { data } = reply.json<{ data: readonly { hour: string; requests: number }[] }>();
      const hours = data.map(({ hour }) => hour);
      expect(hours).toEqual([...hours].sort());
      expect(data.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(0);
    });
  });

  describe('a rotation by the seller', () => {
    itWith(options, 'gateway problem bodies')(
      'keeps the old and the new secret valid and refuses another rotation with either of them',
      async () => {
        const old = target().keys.rotate;
        const rotated = await rotate(target(), old);
        expect(rotated.status).toBe(201);
        const { secret } = rotated.json<{ secret: string }>();

        const replies = [await readKey(target(), secret), await readKey(target(), old)];
        expect(replies.map(({ status }) => status)).toEqual([200, 200]);
        const [newId, oldId] = replies.map((reply) => reply.json<KeyView>().id);
        expect(newId).toBe(oldId);
        expectProblem(await rotate(target(), secret), 'too_many_secrets');
        expectProblem(await rotate(target(), old), 'too_many_secrets');
      },
    );
  });
};
