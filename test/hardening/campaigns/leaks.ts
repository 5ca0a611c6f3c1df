import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Campaign } from './campaign.ts';

/** Everything that the service and its database wrote. */
const tracesOf = async (folder: string, terminal: string) => {
  const names = await readdir(folder);
  const read = async (matches: (name: string) => boolean): Promise<string> => {
    const texts = await Promise.all(
      names.filter(matches).map((name) => readFile(join(folder, name), 'latin1')),
    );
    return texts.join('\n');
  };
  return {
    log: await read((name) => name.startsWith('service.log')),
    database: await read((name) => name.startsWith('campaign.sqlite')),
    terminal,
  };
};

/** A number by itself, in any of its spellings: six digits within a longer number or an id are chance. */
const isIn = (text: string, digits: string): boolean =>
  new RegExp(`(?<![\\w.-])${digits}(?![\\w.-])`).test(text);

/** After all campaigns: no national id, phone, code, key or token that was used may be found where docs/operators/privacy.md says it is not. */
export const leaks: Campaign = {
  name: 'leaks',
  async run({ deployment, report, used }) {
    const { log, database, terminal } = await tracesOf(deployment.folder, deployment.terminal());
    report.expect(
      'leaks: there is a log to search',
      log.includes('request_completed'),
      () => 'the log is empty',
    );
    const search = (
      title: string,
      text: string,
      values: Iterable<string>,
      matches: (text: string, value: string) => boolean,
    ) => {
      const check = `leaks: no ${title}`;
      for (const value of values) report.expect(check, !matches(text, value), () => `…${value.slice(-2)}`);
    };
    const contains = (text: string, value: string): boolean => text.includes(value);
    for (const [name, text] of [
      ['the log', log],
      ['the terminal', terminal],
    ] as const) {
      search(`national id in ${name}`, text, used.nationalIds, contains);
      search(`phone in ${name}`, text, used.phones, (where, phone) => where.includes(phone.slice(3)));
      search(`code in ${name}`, text, used.codes, isIn);
      search(`API key in ${name}`, text, used.keys, contains);
      search(`access token in ${name}`, text, used.tokens, contains);
    }
    search('national id in the database file', database, used.nationalIds, contains);
    search('code in the database file', database, used.codes, (where, code) => where.includes(`"${code}"`));
    search('API key in the database file', database, used.keys, contains);
    search('access token in the database file', database, used.tokens, contains);
  },
};
