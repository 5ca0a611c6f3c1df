import type { ProblemCode } from '#shared/problems.ts';
import type { Demo } from '../service.ts';
import { StartupError } from '../startup-error.ts';

/** A request of the demo. */
export interface DemoRequest {
  /** GET, or POST with a body, by default. */
  readonly method?: 'DELETE';
  readonly path: string;
  readonly key?: string;
  readonly body?: unknown;
}

/** Says what to do when no service responds. */
export const NOT_RUNNING =
  'The service is not running: start it with "npm start" in another terminal, then run this again.';

/** Calls the service and prints each step. */
export const demoClient = ({ base_url }: Demo) => {
  let steps = 0;

  const note = (title: string, detail: string): void => {
    steps += 1;
    console.log(`\n${String(steps).padStart(2)}. ${title}\n    ${detail}`);
  };

  const fetchFromService = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`${base_url}${path}`, init).catch((cause: unknown) => {
      throw new StartupError(NOT_RUNNING, { cause });
    });

  return {
    note,

    /** Makes a call, prints request and response, returns the body. Throws a StartupError if the status or problem code is another one. */
    async step<T>(title: string, request: DemoRequest, expected: number | ProblemCode): Promise<T> {
      const { path, key, body, method = body === undefined ? 'GET' : 'POST' } = request;
      const response = await fetchFromService(path, {
        method,
        headers: { 'Content-Type': 'application/json', ...(key === undefined ? {} : { 'X-Api-Key': key }) },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.text();
      note(title, `${method} ${path}  ->  ${response.status}  ${shorten(text)}`);
      const json = text === '' ? {} : JSON.parse(text);
      if (![response.status, json.code].includes(expected)) {
        throw new StartupError(`Step ${steps} was expected to return ${expected}.`);
      }
      return json;
    },

    /** Returns the newest code that was "sent" to a phone. */
    async latestCode(phone: string): Promise<string> {
      const response = await fetchFromService(`/_local/messages?phone=${encodeURIComponent(phone)}`);
      const [newest] = (await response.json()) as { readonly code: string }[];
      if (newest === undefined) throw new StartupError('The SMS simulator has no message for this phone.');
      note('The code arrives by SMS (see the terminal of npm start)', newest.code);
      return newest.code;
    },
  };
};

export type DemoClient = ReturnType<typeof demoClient>;

/** Tokens and lists can be long. */
const shorten = (text: string): string => (text.length > 400 ? `${text.slice(0, 400)}…` : text);
