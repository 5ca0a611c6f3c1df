/** Runs every scenario against the deployed service. `npm run test:deploy` starts it, see emulated-deploy.ts. */
import { everyScenario } from '#test/scenarios/every-scenario.ts';
import type { Feature } from '#test/scenarios/target.ts';
import { type DeployedTarget, deployedTarget } from './deployed-target.ts';
import { STAGE } from './stage.ts';

let target: DeployedTarget;

const lacks = (process.env.DEPLOY_LACKS ?? '').split(',') as Feature[];

beforeAll(async () => {
  target = await deployedTarget(STAGE);
});

afterAll(() => target?.close());

describe('the deployed service', () => {
  everyScenario({ target: () => target, lacks });
});
