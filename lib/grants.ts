import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Permissions, TableAction } from '#shared/route.ts';
import type { ItemPrefix } from '#shared/table/keys.ts';

export const allow = (actions: readonly string[], resources: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [...resources] });

/**
 * Grants each action on the items whose partition keys begin with one of its prefixes. A BatchGetItem is allowed only if every key of
 * the request does, so one statement holds all prefixes of an action. `ForAllValues` is also true for a request without partition
 * keys; the `Null` condition denies that one. An update with a list of attributes has a statement of its own.
 */
export const onTable = (
  { table = {}, updates = {} }: Permissions,
  tableArns: readonly string[],
): readonly PolicyStatement[] => {
  const statement = (action: TableAction, prefixes: readonly string[], attributes?: readonly string[]) =>
    new PolicyStatement({
      actions: [`dynamodb:${action}`],
      resources: [...tableArns],
      conditions: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': prefixes.map((prefix) => `${prefix}*`) },
        ...(attributes && { 'ForAllValues:StringEquals': { 'dynamodb:Attributes': [...attributes] } }),
        Null: { 'dynamodb:LeadingKeys': 'false' },
      },
    });
  const pairs = (Object.keys(table) as ItemPrefix[]).flatMap((prefix) =>
    (table[prefix] ?? []).map((action) => ({
      action,
      prefix,
      attributes: action === 'UpdateItem' ? updates[prefix] : undefined,
    })),
  );
  const others = Map.groupBy(
    pairs.filter(({ attributes }) => attributes === undefined),
    ({ action }) => action,
  );
  return [
    ...pairs.flatMap(({ action, prefix, attributes }) =>
      attributes === undefined ? [] : [statement(action, [prefix], attributes)],
    ),
    ...[...others].map(([action, granted]) =>
      statement(
        action,
        granted.map(({ prefix }) => prefix),
      ),
    ),
  ];
};
