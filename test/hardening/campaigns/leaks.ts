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

/** What a value could be a part of. A search of these finds the same as one of the whole text, many times faster. */
const PARTS = {
  digits: /\d{10,}/g,
  /** Six digits by themselves: within a longer number or an id they are chance. */
  code: /(?<![\w.-])\d{6}(?![\w.-])/g,
  quotedCode: /"\d{6}(?=")/g,
  key: /blk_\S+/g,
  token: /eyJ\S+/g,
};

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
    const search = (title: string, text: string, part: RegExp, values: Iterable<string>) => {
      const parts = (text.match(part) ?? []).join(' ');
      const check = `leaks: no ${title}`;
      for (const value of values) report.expect(check, !parts.includes(value), () => `…${value.slice(-2)}`);
    };
    const subscriberNumbers = [...used.phones].map((phone) => phone.slice(3));
    for (const [name, text] of [
      ['the log', log],
      ['the terminal', terminal],
    ] as const) {
      search(`national id in ${name}`, text, PARTS.digits, used.nationalIds);
      search(`phone in ${name}`, text, PARTS.digits, subscriberNumbers);
      search(`code in ${name}`, text, PARTS.code, used.codes);
      search(`API key in ${name}`, text, PARTS.key, used.keys);
      search(`access token in ${name}`, text, PARTS.token, used.tokens);
    }
    const quotedCodes = [...used.codes].map((code) => `"${code}`);
    search('national id in the database file', database, PARTS.digits, used.nationalIds);
    search('code in the database file', database, PARTS.quotedCode, quotedCodes);
    search('API key in the database file', database, PARTS.key, used.keys);
    search('access token in the database file', database, PARTS.token, used.tokens);
  },
};
