import { join } from 'node:path';
import type { ProblemCode } from '#shared/problems.ts';
import { readIfThere } from '../private-file.ts';
import type { Demo } from '../service.ts';
import { StartupError } from '../startup-error.ts';

/** A request of the demo and the expected status or problem code. */
export interface DemoCall {
  /** GET, or POST with a body, by default. */
  readonly method?: 'DELETE';
  readonly path: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly expect: number | ProblemCode;
}

const NOT_RUNNING =
  'The service is not running: start it with "npm start" in another terminal, then run this again.';

/** Reads the URL and the keys of the running service. Throws a StartupError if none runs. */
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

    /** Makes a call, prints request and response, returns the body. Throws a StartupError if the response is not the expected one. */
    async step<T>(title: string, { path, key, body, expect, ...call }: DemoCall): Promise<T> {
      const method = call.method ?? (body === undefined ? 'GET' : 'POST');
      const response = await fetchFromService(`${demo.base_url}${path}`, {
        method,
        headers: {
          ...(key === undefined ? {} : { 'X-Api-Key': key }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      note(title, `${method} ${path}  ->  ${response.status}  ${shorten(text)}`);
      const json = text === '' ? {} : JSON.parse(text);
      if (response.status !== expect && json.code !== expect) {
        throw new StartupError(`Step ${steps} was expected to return ${expect}.`);
      }
      return json;
    },

    /** Returns the newest code that was "sent" to a phone. */
    async latestCode(phone: string): Promise<string> {
      const response = await fetchFromService(
        `${demo.base_url}/_local/messages?phone=${encodeURIComponent(phone)}`,
      );
      const [newest] = (await response.json()) as { readonly code: string }[];
      if (newest === undefined) throw new StartupError('The SMS simulator has no message for this phone.');
      note('The code arrives by SMS (see the terminal of npm start)', newest.code);
      return newest.code;
    },
  };
};

export type DemoClient = ReturnType<typeof demoClient>;

const fetchFromService = async (url: string, init?: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, init);
  } catch (cause) {
    throw new StartupError(NOT_RUNNING, { cause });
  }
};

/** Tokens and lists can be long. */
const shorten = (text: string): string => (text.length > 400 ? `${text.slice(0, 400)}…` : text);
