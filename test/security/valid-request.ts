import * as v from 'valibot';
import type { Route } from '#shared/route.ts';

/** Returns the examples of the path parameters of a row, or an unknown value where a schema has none. */
export const pathExamples = ({ path, pathParameters }: Route): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from(path.matchAll(/\{(\w+)\+?\}/g), ([, name = '']) => {
      const schema = pathParameters?.schema.entries[name];
      const [example] = schema === undefined ? [] : (v.getExamples(schema) as readonly unknown[]);
      return [name, String(example ?? 'no-such-value')];
    }),
  );

/** Returns the path of a row with `pathExamples`. */
export const validPath = (route: Route): string => {
  const examples = pathExamples(route);
  return route.path.replace(/\{(\w+)\+?\}/g, (_placeholder, name: string) => String(examples[name]));
};

/** `npm start` registers the buyer of the example phone. No buyer has this one, so that no attack on a name links a person. */
const UNREGISTERED_PHONE = '+989990000042';

/** Returns the example of a field, which may be optional or null. */
const exampleOf = (schema: v.GenericSchema): unknown =>
  'wrapped' in schema
    ? exampleOf(schema.wrapped as v.GenericSchema)
    : (v.getExamples(schema) as readonly unknown[])[0];

/** Returns a valid body of a row, made of the examples that its schema publishes; undefined if the row has no body. */
export const validBody = ({ name, body }: Route): Readonly<Record<string, unknown>> | undefined => {
  if (body === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(body.entries).map(([field, schema]) => {
      const example = exampleOf(schema);
      if (example === undefined) throw new Error(`${name}: the field ${field} has no example in its schema`);
      return [field, field === 'phone' ? UNREGISTERED_PHONE : example];
    }),
  );
};
