/** What IAM checks of the calls of a table: the action, the beginning of the partition key, and the attributes of an update. */
import type { SentCommand } from './intercepted-table.ts';

interface Part {
  readonly Key?: Readonly<Record<string, unknown>>;
  readonly Item?: Readonly<Record<string, unknown>>;
  readonly UpdateExpression?: string;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
}

/** The fields of a command's input from which its partition keys are read. */
interface Input extends Part {
  readonly RequestItems?: Readonly<
    Record<string, { readonly Keys: readonly Readonly<Record<string, unknown>>[] }>
  >;
  readonly TransactItems?: readonly Readonly<Record<string, Part>>[];
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
}

/** The action that grants a command, or a part of a transaction, where it is not the name with `Item`. */
const ACTIONS: Readonly<Record<string, string>> = {
  Query: 'Query',
  Scan: 'Scan',
  ConditionCheck: 'ConditionCheckItem',
};

const actionOf = (name: string): string => ACTIONS[name] ?? `${name}Item`;

/** `SELLER#sel_1` -> `SELLER#` */
const prefixOf = (partitionKey: unknown): string =>
  /^[A-Z]+#/.exec(String(partitionKey))?.[0] ?? String(partitionKey);

const keyOf = ({ Key, Item }: Part): string => prefixOf((Key ?? Item)?.pk);

const queriedKey = ({ KeyConditionExpression = '', ExpressionAttributeValues = {} }: Input): string => {
  const [, value = ''] = /\bpk = (:\w+)/.exec(KeyConditionExpression) ?? [];
  return prefixOf(ExpressionAttributeValues[value]);
};

const accessesOfOne = ({ name, input }: SentCommand): readonly string[] => {
  const { TransactItems, RequestItems, ...own } = input as Input;
  const command = name.replace('Command', '');
  if (TransactItems) {
    return TransactItems.flatMap((item) => Object.entries(item)).map(
      ([part, value]) => `${actionOf(part)} ${keyOf(value)}`,
    );
  }
  if (RequestItems) {
    const keys = Object.values(RequestItems).flatMap(({ Keys }) => Keys);
    return keys.map((Key) => `${actionOf(command)} ${keyOf({ Key })}`);
  }
  return [`${actionOf(command)} ${command === 'Query' ? queriedKey(own) : keyOf(own)}`];
};

/** Returns the accesses of calls, sorted, each once: `GetItem SELLER#`. */
export const accessesOf = (commands: readonly SentCommand[]): readonly string[] =>
  [...new Set(commands.flatMap(accessesOfOne))].sort();

/** Returns the attributes that an update names, as `dynamodb:Attributes` lists them: those of its key and of its expressions. */
const attributesOf = ({
  Key = {},
  UpdateExpression = '',
  ConditionExpression = '',
  ExpressionAttributeNames = {},
}: Part): readonly string[] => {
  const words = `${UpdateExpression} ${ConditionExpression}`.match(/(?<![:\w])#?[a-z]\w*(?!\w*\()/g) ?? [];
  return [...Object.keys(Key), ...words.map((word) => ExpressionAttributeNames[word] ?? word)];
};

/** Returns the attributes that the updates of items with a key prefix name, sorted, each once. */
export const updatedAttributes = (commands: readonly SentCommand[], prefix: string): readonly string[] => {
  const updates = commands.flatMap(({ name, input }): readonly Part[] => {
    const { TransactItems = [] } = input as Input;
    return [
      ...TransactItems.flatMap(({ Update }) => Update ?? []),
      ...(name === 'UpdateCommand' ? [input] : []),
    ];
  });
  return [...new Set(updates.filter((part) => keyOf(part) === prefix).flatMap(attributesOf))].sort();
};

/** Returns the reads of calls that are not strongly consistent, sorted, each once: `Query LIMIT#`. */
export const inconsistentReads = (commands: readonly SentCommand[]): readonly string[] => {
  const reads = commands.filter(({ name }) => /^(?:Get|BatchGet|Query|Scan)Command$/.test(name));
  const isConsistent = ({ input }: SentCommand): boolean => {
    const { RequestItems = { own: input } } = input as {
      readonly RequestItems?: Readonly<Record<string, object>>;
    };
    return Object.values(RequestItems).every(
      (read) => 'ConsistentRead' in read && read.ConsistentRead === true,
    );
  };
  return accessesOf(reads.filter((read) => !isConsistent(read)));
};
