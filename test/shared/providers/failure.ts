import { inspect } from 'node:util';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';

/** The failure of a call that must not go well. */
export const failureOf = async (call: Promise<unknown>): Promise<ProviderUnavailable> => {
  const error = await call.then(
    (result) => new Error(`answered ${String(result)}`),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ProviderUnavailable);
  return error as ProviderUnavailable;
};

/** What a failure says to those who decide by it. */
export const gistOf = ({ reason, refused }: ProviderUnavailable) => ({ reason, refused });

/** Everything that a log, a debugger or a tracer could find in an error: its whole tree, hidden fields included. */
export const everythingIn = (error: unknown): string =>
  inspect(error, {
    depth: Infinity,
    showHidden: true,
    getters: true,
    maxStringLength: null,
    maxArrayLength: null,
  });

/** A signal that never ends. */
export const noHurry = (): AbortSignal => new AbortController().signal;
