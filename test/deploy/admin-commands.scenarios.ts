/** Runs the admin commands against the deployed stage. `npm run test:deploy` starts it, see emulated-deploy.ts. */
import { stageCommands } from '#test/admin/cli/stage-commands.ts';
import type { Feature } from '#test/scenarios/target.ts';
import { STAGE } from './stage.ts';

describe('the admin commands on the deployed stage', () => {
  stageCommands({ stage: STAGE, lacks: (process.env.DEPLOY_LACKS ?? '').split(',') as Feature[] });
});
