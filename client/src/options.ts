import type { RetryPolicy, Wait } from './retry.ts';

/** The options of a client. */
export interface Options extends Partial<RetryPolicy> {
  /**
   * The address of the service, with its scheme, and its stage if it has one: `https://api.example.com/prod`. Default: the environment
   * variable BUYER_LINKING_URL.
   */
  readonly baseUrl?: string | undefined;
  /** Default: the environment variable BUYER_LINKING_API_KEY. */
  readonly apiKey?: string | undefined;
  /** Called when a response says that the secret of your key ends within 14 days: once for each end. */
  readonly onKeyExpiring?: ((expiresAt: Date) => void) | undefined;
}

/** How a call is made. */
export interface Call {
  /** Aborts the call, including its waits between attempts. */
  readonly signal?: AbortSignal | undefined;
}

const URL_VARIABLE = 'BUYER_LINKING_URL';
const KEY_VARIABLE = 'BUYER_LINKING_API_KEY';

/** Browsers have no `process`. A key does not belong in a browser. */
const fromEnvironment = (variable: string): string | undefined =>
  (globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } }).process?.env?.[
    variable
  ];

const logWait = ({ waitMs, code, retry }: Wait): void =>
  // biome-ignore lint/suspicious/noConsole: a client that waits for a minute without a word looks like one that hangs.
  console.warn(
    `buyer-linking waits ${(waitMs / 1000).toFixed(1)} s before retry ${retry}: ${code ?? 'no response'}`,
  );

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });

const DEFAULTS: RetryPolicy = {
  maxRetries: 3,
  timeoutMs: 30_000,
  sleep,
  random: Math.random,
  fetch: (request) => fetch(request),
  onWait: logWait,
};

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Throws for an address that is no URL of HTTP: without this check the first call would fail with `Invalid URL`. Throws for http, except on
 * loopback: it would send the key and national ids unencrypted.
 */
const checkBaseUrl = (baseUrl: string): void => {
  if (baseUrl === '')
    throw new Error(`No address: pass baseUrl, or set the environment variable ${URL_VARIABLE}.`);
  // A user name or a password would be refused by each request, with an error that shows it.
  if (!URL.canParse(baseUrl) || !/^https?:\/\/[^/?#@]*(?:[/?#]|$)/i.test(baseUrl)) {
    // Without the value: if address and key are swapped, it is the key.
    throw new Error('baseUrl must be a URL with its scheme, such as https://api.example.com/prod.');
  }
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return;
  throw new Error('baseUrl must begin with https://, except on loopback.');
};

/**
 * Returns the options with their defaults. Throws if `baseUrl` is neither https nor http on loopback, or if the API key is missing or
 * cannot be one.
 */
export const checkedOptions = ({
  baseUrl = fromEnvironment(URL_VARIABLE) ?? '',
  apiKey = fromEnvironment(KEY_VARIABLE),
  onKeyExpiring = () => {},
  ...policy
}: Options) => {
  checkBaseUrl(baseUrl);
  // A key from a file often ends with a line break.
  const key = apiKey?.trim() ?? '';
  if (key === '')
    throw new Error(`No API key: pass apiKey, or set the environment variable ${KEY_VARIABLE}.`);
  // As a header it would fail with an error that shows it.
  if (!/^\w+$/.test(key)) throw new Error('The API key has a character that no key has.');
  return { baseUrl, apiKey: key, onKeyExpiring, retries: { ...DEFAULTS, ...policy } satisfies RetryPolicy };
};
