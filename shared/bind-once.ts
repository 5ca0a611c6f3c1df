import { runsInLambda } from '#shared/env.ts';

/** Makes the dependencies once: in Lambda while the module loads, at full CPU; elsewhere at the first request, with its environment. */
export const bindOnce = <Deps>(bind: () => Deps): (() => Deps) => {
  let bound: Deps | undefined;
  const deps = (): Deps => {
    bound ??= bind();
    return bound;
  };
  if (runsInLambda()) deps();
  return deps;
};
