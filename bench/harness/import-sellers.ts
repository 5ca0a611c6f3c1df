import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { marshall } from '@aws-sdk/util-dynamodb';
import { binaryPath } from '#local/database.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { TABLE_NAME, userItem } from './database.ts';

/** Every item of the sellers, as lines of an export of DynamoDB. */
function* exportLines(sellers: ReadonlyMap<string, number>): Generator<string> {
  const line = (item: object): string => `${JSON.stringify({ Item: marshall(item) })}\n`;
  for (const [sellerId, users] of sellers) {
    yield line({
      ...sellerKey(sellerId),
      seller_id: sellerId,
      name: sellerId,
      status: 'active',
      user_count: users,
      removed_count: 0,
    });
    for (let ordinal = 1; ordinal <= users; ordinal += 1) yield line(userItem(sellerId, ordinal));
  }
}

const SCHEMA = {
  Table: {
    TableName: TABLE_NAME,
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
    ],
  },
};

/** Imports sellers, given with the number of their users, as an export of DynamoDB. Returns the new database file. */
export const importSellers = async (
  folder: string,
  sellers: ReadonlyMap<string, number>,
): Promise<string> => {
  const [source, schema, file] = ['export', 'schema.json', 'table.sqlite'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const data = join(source, TABLE_NAME, 'data');
  await mkdir(data, { recursive: true });
  await pipeline(
    Readable.from(exportLines(sellers)),
    createGzip({ level: 1 }),
    createWriteStream(join(data, 'items.json.gz')),
  );
  await writeFile(schema, JSON.stringify([SCHEMA]));
  await promisify(execFile)(binaryPath(), [
    'import',
    '--source',
    source,
    '--schema',
    schema,
    '--output',
    file,
  ]);
  await rm(source, { recursive: true });
  return file;
};
