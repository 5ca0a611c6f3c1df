/** The kinds of options of a stage. Each one fails with a sentence that completes `option "<name>" …`. */
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as v from 'valibot';
import { allRoutes } from '#shared/routes.ts';

/** Returns the schema of an option, with the sentence that the table of docs/deploy.md shows. */
export const option = <const Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.pipe(schema, v.description(description));

/** One of a few texts. */
export const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.picklist(options, `must be ${options.map((each) => `"${each}"`).join(' or ')}`);

/** True or false. */
export const onOff = v.boolean('must be true or false');

/** A whole number within a range. */
export const wholeNumber = (least: number, most: number) => {
  const sentence = `must be a whole number from ${least} to ${most}`;
  return v.pipe(
    v.number(sentence),
    v.integer(sentence),
    v.minValue(least, sentence),
    v.maxValue(most, sentence),
  );
};

/** A text of a form; the sentence shows an example. */
export const matching = (form: RegExp, example: string) => {
  const sentence = `must look like ${example}`;
  return v.pipe(v.string(sentence), v.regex(form, sentence));
};

/** A list without duplicates whose first item is the first choice. */
export const listOf = <const Item extends v.GenericSchema<string>>(item: Item, content: string) => {
  const sentence = `must list ${content}, at least one, without duplicates, in the order of preference`;
  return v.pipe(
    v.array(item, sentence),
    v.minLength(1, sentence),
    v.check((list) => new Set(list).size === list.length, sentence),
  );
};

/** A list of providers by name; each must have an adapter. */
export const providersOf = (known: readonly { readonly name: string }[]) => {
  const choice = known.map(({ name }) => `"${name}"`).join(', ');
  return listOf(
    v.picklist(
      known.map(({ name }) => name),
      `must be one of ${choice}`,
    ),
    `names of ${choice}`,
  );
};

/** Several options under one name; an unknown one is refused. */
export const section = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, (issue) =>
    issue.expected === 'never'
      ? 'is not an option'
      : issue.received === 'undefined'
        ? 'is missing'
        : 'must be an object',
  );

/** The label of a signing key: the part of its construct id that distinguishes it. */
export const signingKeyLabel = matching(/^[a-z][a-z0-9-]*$/, '"k1"');

/** The name of a Region. */
export const region = matching(/^[a-z]{2,}(?:-[a-z]+)+-\d$/, '"eu-central-1"');

/** Whom alarms notify. */
export const receiver = v.nullable(
  v.union(
    [
      section({ email: matching(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, '"on-call@your-company.com"') }),
      section({
        topicArn: matching(
          /^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/,
          '"arn:aws:sns:eu-central-1:123456789012:on-call"',
        ),
      }),
    ],
    'must be { "email": "…" }, { "topicArn": "arn:…" } or null',
  ),
);

/** The options without which nobody notices a wrong account, a failure or a bill of prod. */
export const REQUIRED_OF_PROD = ['account', 'region', 'alarms', 'spend', 'budget'] as const;

/** The retention times that CloudWatch Logs accepts. */
const RETENTION_DAYS = Object.values(RetentionDays).filter(
  (days): days is number => typeof days === 'number',
);

/** A retention time of logs. */
export const retentionDays = v.picklist(RETENTION_DAYS, `must be one of ${RETENTION_DAYS.join(', ')}`);

/** A throttle of API Gateway. */
export const throttle = section({
  requestsPerSecond: wholeNumber(1, 10_000),
  burst: wholeNumber(1, 5_000),
});

/** An optional number for each function. */
export const concurrencyByFunction = Object.fromEntries(
  [...allRoutes.map(({ name }) => name), 'authorizer'].map((name) => [name, v.optional(wholeNumber(1, 900))]),
);
