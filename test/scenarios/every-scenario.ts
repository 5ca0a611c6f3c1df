import { buyerLinkScenarios } from './buyer-links.ts';
import { eventScenarios } from './events.ts';
import { expectationScenarios } from './expectations.ts';
import { inputScenarios } from './input.ts';
import { keyScenarios } from './key.ts';
import { linkBuyersScenarios } from './link-buyers.ts';
import { listUsersScenarios } from './list-users.ts';
import { planLimitScenarios } from './plan-limit.ts';
import { providerScenarios } from './providers.ts';
import { signInScenarios } from './sign-in.ts';
import type { ScenarioOptions } from './target.ts';
import { usersByIdScenarios } from './users-by-id.ts';

/** Runs every scenario of the contract against one target. The plan's limit comes last: it uses up the free key for a minute. */
export const everyScenario = ({ target, lacks = [] }: ScenarioOptions): void => {
  const hasForeignRefusals = lacks.includes('gateway problem bodies');
  const options = { target: () => ({ ...target(), hasForeignRefusals }), lacks };
  expectationScenarios(options);
  inputScenarios(options);
  signInScenarios(options);
  linkBuyersScenarios(options);
  listUsersScenarios(options);
  usersByIdScenarios(options);
  buyerLinkScenarios(options);
  eventScenarios(options);
  keyScenarios(options);
  providerScenarios(options);
  planLimitScenarios(options);
};
