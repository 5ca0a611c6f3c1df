import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { setLocalCredentials, TABLE_NAME } from '#local/environment.ts';
import { readyText } from '#local/service-output.ts';
import { openTable } from '#shared/table/client.ts';
import { toArabicDigits, toPersianDigits } from '#test/scenarios/buyers.ts';
import type { RunningService } from './running-service.ts';

/** Everything that a running service has written. */
interface Traces {
  /** The terminal, without the text at its start. */
  readonly terminal: string;
  readonly log: string;
  /** Every file of the embedded database, as bytes. */
  readonly database: Buffer;
  /** Every item of the table. */
  readonly items: string;
}

/** Collects the traces of a service while it runs. */
export const tracesOf = async ({ folder, demo, terminal }: RunningService): Promise<Traces> => {
  const files = (await readdir(folder)).filter((name) => name.startsWith('table.sqlite'));
  const logs = (await readdir(folder)).filter((name) => name.startsWith('service.log'));
  return {
    terminal: terminal().replace(readyText(demo), ''),
    log: (await Promise.all(logs.map((name) => readFile(join(folder, name), 'utf8')))).join(''),
    database: Buffer.concat(await Promise.all(files.map((name) => readFile(join(folder, name))))),
    items: await scan(demo.dynamodb_endpoint),
  };
};

const scan = async (endpoint: string): Promise<string> => {
  setLocalCredentials();
  const { client, name: TableName } = openTable(TABLE_NAME, endpoint);
  const pages: string[] = [];
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName, ExclusiveStartKey }));
    pages.push(JSON.stringify(page.Items));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  client.destroy();
  return pages.join('\n');
};

/** Returns a number in ASCII, Persian and Arabic-Indic digits. */
export const spellings = (digits: string): string[] => [
  digits,
  toPersianDigits(digits),
  toArabicDigits(digits),
];

/** Returns the texts that a text or a buffer contains. */
export const foundIn = (where: string | Buffer, what: readonly string[]): string[] =>
  what.filter((text) => where.includes(text));

/** Returns the codes that a text contains as words of their own: six digits within a longer number or an id are chance. */
export const codesIn = (where: string, codes: readonly string[]): string[] =>
  codes.filter((code) => new RegExp(`(?<![\\w.-])${code}(?![\\w.-])`).test(where));
