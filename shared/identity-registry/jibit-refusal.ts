import * as v from 'valibot';
import type { ProviderReply } from '#shared/providers/exchange.ts';

const refusalSchema = v.union([
  v.pipe(
    v.object({ code: v.string() }),
    v.transform(({ code }) => code),
  ),
  v.pipe(
    v.object({ errors: v.tupleWithRest([v.object({ code: v.string() })], v.unknown()) }),
    v.transform(({ errors }) => errors[0].code),
  ),
]);

/** The code of a refusal of Jibit's, in its present form or its older one; undefined if the answer is none. */
export const jibitRefusal = ({ status, json }: ProviderReply): string | undefined => {
  const result = v.safeParse(refusalSchema, json);
  return result.success && status >= 400 ? result.output : undefined;
};
