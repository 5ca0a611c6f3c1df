import { join } from 'node:path';
import type { ProblemCode } from '#shared/problems.ts';
import { readIfThere } from '../private-file.ts';
import type { Demo } from '../service.ts';
import { StartupError } from '../startup-error.ts';

/** A request of the demo, and the status or the problem code it must be answered with. */
export interface DemoCall {
  readonly path: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly expect: number | ProblemCode;
}

const NOT_RUNNING =
  'The service is not running: start it with "npm start" in another terminal, then run this again.';

/** Where the running service is, and its keys. */
export const readDemo = async (folder: string): Promise<Demo> => {
  const text = await readIfThere(join(folder, 'demo.json'));
  if (text === undefined) throw new StartupError(NOT_RUNNING);
  return JSON.parse(text);
};

/** Calls the service and prints each step. */
export const demoClient = (demo: Demo) => {
  let steps = 0;
  const note = (title: string, detail: string): void => {
    steps += 1;
    process.stdout.write(`\n${String(steps).padStart(2)}. ${title}\n    ${detail}\n`);
  };
  return {
    note,

    /** Makes a call, prints what was asked and answered; gives the body. Throws if the answer is another one than expected. */
    async step<T>(title: string, { path, key, body, expect }: DemoCall): Promise<T> {
      const response = await reach(`${demo.base_url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(key === undefined ? {} : { 'X-Api-Key': key }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      note(title, `${body === undefined ? 'GET' : 'POST'} ${path}  ->  ${response.status}  ${shorten(text)}`);
      const answer = JSON.parse(text);
      if (response.status !== expect && answer.code !== expect) {
        throw new StartupError(`Step ${steps} should have been answered with ${expect}.`);
      }
      return answer;
    },

    /** The newest code that was "sent" to a phone. */
    async latestCode(phone: string): Promise<string> {
      const response = await reach(`${demo.base_url}/_local/messages?phone=${encodeURIComponent(phone)}`);
      const [newest] = (await response.json()) as { readonly code: string }[];
      if (newest === undefined) throw new StartupError('The SMS simulator has no message for this phone.');
      note('The code arrives by SMS (see the terminal of npm start)', newest.code);
      return newest.code;
    },
  };
};

export type DemoClient = ReturnType<typeof demoClient>;

const reach = async (url: string, init?: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, init);
  } catch (cause) {
    throw new StartupError(NOT_RUNNING, { cause });
  }
};

/** A token is long, and a list may be. */
const shorten = (text: string): string => (text.length > 400 ? `${text.slice(0, 400)}…` : text);
