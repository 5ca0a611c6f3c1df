import { randomInt } from 'node:crypto';
import { callsTo } from '#probe/call.ts';
import { expectationsFor, type Need, type Run, TEST_PEOPLE, testPersonOf } from '#probe/expectations.ts';
import { type Feature, itWith, type ScenarioOptions } from './target.ts';

const GROUPS = [
  ['without a key', 'nothing'],
  ['with a key', 'key'],
  ['with a person, who is removed', 'person', 'sandbox'],
] as const satisfies readonly (readonly [string, Need, ...Feature[]])[];

/** The requests of the smoke test, but that with a revoked key: it gets the keys of the target, which stay valid. */
export const expectationScenarios = (options: ScenarioOptions): void => {
  const { target, lacks = [] } = options;

  describe('the expectations of the smoke test', () => {
    for (const [title, need, ...features] of GROUPS) {
      itWith(options, ...features)(`${title} are met`, async () => {
        const { baseUrl, keys } = target();
        const run: Run = {
          call: callsTo(baseUrl, AbortSignal.timeout(60_000)),
          keys: { shop: keys.professional, reader: keys.read_only },
          person: testPersonOf(randomInt(TEST_PEOPLE)),
          mayBeLinked: false,
          revoke: async () => {},
        };
        const expectations = expectationsFor([need]).filter(
          ({ needsGateway }) => !needsGateway || !lacks.includes('gateway problem bodies'),
        );
        for (const { title: request, run: runExpectation } of expectations) {
          const fault = await runExpectation(run).then(
            () => 'none',
            (error: Error) => error.message,
          );
          expect([request, fault]).toEqual([request, 'none']);
        }
      });
    }
  });
};
