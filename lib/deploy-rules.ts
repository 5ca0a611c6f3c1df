import type { Config } from './config.ts';
import { REQUIRED_OF_PROD } from './option-schemas.ts';

const isUnset = (config: Config, name: (typeof REQUIRED_OF_PROD)[number]): boolean =>
  name === 'spend' ? Object.values(config.spend).every((limit) => limit === null) : config[name] === null;

/** Returns why prod may not be deployed as it is: one sentence for all options that are unset and not in `leftUnset`. */
export const unsetOptions = (config: Config): readonly string[] => {
  if (config.stage !== 'prod') return [];
  const names = REQUIRED_OF_PROD.filter((name) => isUnset(config, name) && !config.leftUnset?.includes(name));
  if (names.length === 0) return [];
  const list = new Intl.ListFormat('en', { type: 'conjunction' }).format(names);
  return [
    `Stage prod is not deployed while ${list} ${names.length === 1 ? 'is' : 'are'} unset in lib/stages.ts. Set each, or name it in "leftUnset" if that is meant.`,
  ];
};

/**
 * Returns why a stage may not be deployed into its account, which is that of the config or of the credentials: whoever may deploy one
 * stage can assume every CDK role of the account, and so change each stage in it. `caller`: the account of the credentials, if there are any.
 */
export const sharedAccounts = (
  config: Config,
  stages: readonly Config[],
  caller?: string,
): readonly string[] => {
  const prod = stages.find(({ stage }) => stage === 'prod');
  if (prod === undefined || prod.sharedAccount !== null) return [];
  const neighbors = config.stage === 'prod' ? stages.filter((other) => other !== prod) : [prod];
  return neighbors
    .filter((other) => other.account !== null && other.account === (config.account ?? caller))
    .map(
      (other) =>
        `Stages ${config.stage} and ${other.stage} share the account ${other.account}: who deploys one can change the other. Use two accounts, or give the reason in "sharedAccount" of prod.`,
    );
};
