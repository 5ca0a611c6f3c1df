import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The action that grants each part of a transaction. */
const ACTIONS: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  ConditionCheck: 'ConditionCheckItem',
  Delete: 'DeleteItem',
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

type Key = { readonly pk: { readonly S: string } };

interface Part {
  readonly Key?: Key;
  readonly Item?: Key;
  readonly UpdateExpression?: string;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
}

/** The fields of a request body from which its partition keys are read. */
interface Body extends Part {
  readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly Key[] }>>;
  readonly TransactItems?: readonly Readonly<Record<string, Part>>[];
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S: string }>>;
}

const queriedKey = ({ KeyConditionExpression = '', ExpressionAttributeValues = {} }: Body): string => {
  const [, value = ''] = /\bpk = (:\w+)/.exec(KeyConditionExpression) ?? [];
  return ExpressionAttributeValues[value]?.S ?? '';
};

/** Returns the attributes that an update names, as `dynamodb:Attributes` lists them: those of its key and of its expressions. */
const attributesOf = ({
  Key = {} as Key,
  UpdateExpression = '',
  ConditionExpression = '',
  ExpressionAttributeNames = {},
}: Part): readonly string[] => {
  const words = `${UpdateExpression} ${ConditionExpression}`.match(/(?<![:\w])#?[a-z]\w*(?!\w*\()/g) ?? [];
  return [...Object.keys(Key), ...words.map((word) => ExpressionAttributeNames[word] ?? word)];
};

const keyOf = ({ Key, Item }: Part): string => (Key ?? Item)?.pk.S ?? '';

/** Returns each action of a request with a partition key that it is authorized for. */
const accessesOf = (operation: string, body: Body): (readonly [action: string, partitionKey: string])[] => {
  if (body.TransactItems) {
    return body.TransactItems.flatMap((item) => Object.entries(item)).map(
      ([part, value]) => [ACTIONS[part] ?? part, keyOf(value)] as const,
    );
  }
  if (body.RequestItems) {
    const keys = Object.values(body.RequestItems).flatMap(({ Keys }) => Keys);
    return keys.map((Key) => [operation, keyOf({ Key })] as const);
  }
  return [[operation, operation === 'Query' ? queriedKey(body) : keyOf(body)]];
};

const updatesOf = (operation: string, body: Body): readonly Part[] => [
  ...(body.TransactItems ?? []).flatMap(({ Update }) => Update ?? []),
  ...(operation === 'UpdateItem' ? [body] : []),
];

/** `SELLER#sel_1` -> `SELLER#` */
const prefixOf = (partitionKey: string): string => /^[A-Z]+#/.exec(partitionKey)?.[0] ?? partitionKey;

/** Starts a proxy in front of a database that records the actions and key prefixes of its requests. */
export const startRecordingTable = async (endpoint: string) => {
  const accesses = new Set<string>();
  const updated = new Map<string, Set<string>>();
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const parsed: Body = JSON.parse(body);
    for (const [action, key] of accessesOf(operation, parsed)) accesses.add(`${action} ${prefixOf(key)}`);
    for (const part of updatesOf(operation, parsed)) {
      const prefix = prefixOf(keyOf(part));
      updated.set(prefix, new Set([...(updated.get(prefix) ?? []), ...attributesOf(part)]));
    }
    const { host: _own, 'content-length': _length, connection: _connection, ...headers } = request.headers;
    const forwarded = await fetch(endpoint, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body,
    });
    response.writeHead(forwarded.status, { 'Content-Type': forwarded.headers.get('content-type') ?? '' });
    response.end(await forwarded.text());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Returns the sorted accesses since the last `clear`, as `GetItem SELLER#`. */
    recorded: (): string[] => [...accesses].sort(),
    /** Returns the attributes that the updates of items with a key prefix named since the last `clear`, sorted. */
    updatedAttributes: (prefix: string): string[] => [...(updated.get(prefix) ?? [])].sort(),
    clear(): void {
      accesses.clear();
      updated.clear();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

export type RecordingTable = Awaited<ReturnType<typeof startRecordingTable>>;
