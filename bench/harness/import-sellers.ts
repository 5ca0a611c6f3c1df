import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { marshall } from '@aws-sdk/util-dynamodb';
import { binaryPath } from '#local/database.ts';
import { sellerItems, TABLE_NAME } from './database.ts';

const KEYS = { pk: 'HASH', sk: 'RANGE' } as const;

/** The table as `aws dynamodb describe-table` returns it. */
const DESCRIPTION = {
  Table: {
    TableName: TABLE_NAME,
    KeySchema: Object.entries(KEYS).map(([AttributeName, KeyType]) => ({ AttributeName, KeyType })),
    AttributeDefinitions: Object.keys(KEYS).map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  },
};

/** The items of the sellers as lines of an export of DynamoDB. */
function* exportLines(sellers: ReadonlyMap<string, number>): Generator<string> {
  for (const [sellerId, users] of sellers) {
    for (const item of sellerItems(sellerId, users)) yield `${JSON.stringify({ Item: marshall(item) })}\n`;
  }
}

/**
 * Imports sellers, given with the number of their users, as an export of DynamoDB: a million users take seconds, and minutes as writes.
 * Returns the new database file.
 */
export const importSellers = async (
  folder: string,
  sellers: ReadonlyMap<string, number>,
): Promise<string> => {
  const [source, schema, file] = [
    join(folder, 'export'),
    join(folder, 'schema.json'),
    join(folder, 'table.sqlite'),
  ];
  const data = join(source, TABLE_NAME, 'data');
  await mkdir(data, { recursive: true });
  await pipeline(exportLines(sellers), createWriteStream(join(data, 'items.json')));
  await writeFile(schema, JSON.stringify([DESCRIPTION]));
  const options = ['--source', source, '--schema', schema, '--output', file];
  await promisify(execFile)(binaryPath(), ['import', ...options]);
  return file;
};
