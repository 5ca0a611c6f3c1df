import createClient from 'openapi-fetch';
import type { components, paths } from './generated/openapi.ts';
import { isProblemBody, ProblemError, retryAfterOf } from './problems.ts';
import { type RetryPolicy, retryingFetch } from './retry.ts';

type Schemas = components['schemas'];

export type User = Schemas['User'];
export type NewUser = Schemas['CreateUserBody'];
export type UserPage = Schemas['UserPage'];
export type CodeSent = Schemas['CodeSent'];
export type AccessToken = Schemas['AccessToken'];

/** A linked user; `isNew` is false if this buyer was linked before. */
export interface LinkedUser {
  readonly user: User;
  readonly isNew: boolean;
}

export interface Options extends Partial<RetryPolicy> {
  /** Where the service is, with its stage if it has one: `https://api.example.com/prod`. */
  readonly baseUrl: string;
  /** Default: the environment variable BUYER_LINKING_API_KEY. */
  readonly apiKey?: string | undefined;
}

interface Call {
  /** Ends the call, its waits between tries included. */
  readonly signal?: AbortSignal | undefined;
}

const KEY_VARIABLE = 'BUYER_LINKING_API_KEY';

/** What all platforms but the browser have; a key has no business in a browser. */
const keyFromEnvironment = (): string | undefined =>
  (globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } }).process?.env?.[
    KEY_VARIABLE
  ];

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal.addEventListener('abort', end, { once: true });
  });

const DEFAULTS: RetryPolicy = {
  maxRetries: 3,
  maxWaitSeconds: 60,
  timeoutMs: 30_000,
  sleep,
  random: Math.random,
  fetch: (request) => fetch(request),
};

interface Reply<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of an answer; what is no answer is thrown. */
const dataOf = <Data>({ data, error, response }: Reply<Data>): Data => {
  if (response.ok && data !== undefined) return data;
  if (isProblemBody(error)) throw new ProblemError(error, retryAfterOf(response));
  throw new Error(`The service answered ${response.status}, and not in its own words.`);
};

/** A client of the Buyer Linking API. Throws at once if there is no key. */
export const buyerLinking = (options: Options) => {
  const { baseUrl, apiKey = keyFromEnvironment(), ...policy } = options;
  if (apiKey === undefined || apiKey === '') {
    throw new Error(`No API key: pass apiKey, or set the environment variable ${KEY_VARIABLE}.`);
  }
  const http = createClient<paths>({
    baseUrl,
    headers: { 'X-Api-Key': apiKey },
    fetch: retryingFetch({ ...DEFAULTS, ...policy }),
  });

  const listUsers = async (
    query: { readonly page?: number; readonly page_size?: number } = {},
    { signal }: Call = {},
  ): Promise<UserPage> =>
    dataOf(await http.GET('/v1/users', { params: { query }, ...(signal && { signal }) }));

  /** Every page, from the first. Pages never shift, so nothing is missed or seen twice while others link buyers. */
  async function* pages(pageSize = 100, call: Call = {}): AsyncGenerator<UserPage, void, void> {
    for (let page = 1, last = 1; page <= last; page += 1) {
      const found = await listUsers({ page, page_size: pageSize }, call);
      yield found;
      last = found.total_pages;
    }
  }

  return {
    /** Links a buyer. Safe to call again with the same person: that gives the existing user. */
    async linkBuyer(body: NewUser, { signal }: Call = {}): Promise<LinkedUser> {
      const reply = await http.POST('/v1/users', { body, ...(signal && { signal }) });
      return { user: dataOf(reply), isNew: reply.response.status === 201 };
    },

    /** One page of your users, oldest link first. */
    listUsers,

    pages,

    /** Every one of your users, oldest link first: `for await (const user of client.users()) …` */
    async *users(call: Call = {}): AsyncGenerator<User, void, void> {
      for await (const { data } of pages(100, call)) yield* data;
    },

    /** Sends a one-time code by SMS. Never repeated by itself after a failure: the SMS may have gone out. */
    async sendCode(phone: string, { signal }: Call = {}): Promise<CodeSent> {
      return dataOf(await http.POST('/v1/auth/otp/send', { body: { phone }, ...(signal && { signal }) }));
    },

    /** Trades a code for an access token. Never repeated by itself after a failure: the code may be used up. */
    async verifyCode(phone: string, code: string, { signal }: Call = {}): Promise<AccessToken> {
      const body = { phone, code };
      return dataOf(await http.POST('/v1/auth/otp/verify', { body, ...(signal && { signal }) }));
    },
  };
};

export type BuyerLinkingClient = ReturnType<typeof buyerLinking>;
