import createClient from 'openapi-fetch';
import { type EventPage, type EventsOptions, followEvents, type UserEvent } from './events.ts';
import { announcingExpiry } from './expiry.ts';
import type { paths } from './generated/openapi.ts';
import { type Call, checkedOptions, type Options } from './options.ts';
import { type RetryPolicy, retryingFetch } from './retry.ts';
import type {
  AccessToken,
  BuyerLink,
  CheckedPerson,
  ClaimedPerson,
  CodeSent,
  CorrectedUser,
  EventQuery,
  Key,
  KeyUsage,
  LinkedUser,
  LinkOptions,
  NewSecret,
  NewUser,
  SendCodeOptions,
  User,
  UserPage,
  UserQuery,
  UsersAfter,
  UserUpdate,
} from './types.ts';

/** The largest page that the service returns. */
const MAX_PAGE_SIZE = 100;

/** Returns the body of a success. Throws if there is none: an error response is thrown before. */
const dataOf = <Data>({ data, response }: { readonly data?: Data; readonly response: Response }): Data => {
  if (data === undefined)
    throw new Error(`Status ${response.status}, with a body that is not from the service.`);
  return data;
};

/** The path of an id. Throws a TypeError for an id of another form, which could name another path. */
const byId = (id: string, form: RegExp, message: string) => {
  if (!form.test(id)) throw new TypeError(message);
  return { path: { id } };
};

const byUserId = (id: string) =>
  byId(id, /^usr_[0-9A-Za-z]{22}$/, 'A user id is usr_ and 22 letters and digits.');

const bearer = (accessToken: string) => ({ Authorization: `Bearer ${accessToken}` });

/** Creates a client of the Buyer Linking API. Throws if `baseUrl` is neither https nor http on loopback, or if there is no API key. */
export const buyerLinking = (options: Options) => {
  const { baseUrl, apiKey, onKeyExpiring, retries } = checkedOptions(options);
  const announcing = announcingExpiry(onKeyExpiring);
  const httpWith = (limits: RetryPolicy) => {
    const fetch = announcing(retryingFetch(limits));
    return createClient<paths>({ baseUrl, headers: { 'X-Api-Key': apiKey }, fetch });
  };
  const http = httpWith(retries);
  const patientHttp = httpWith({ ...retries, maxRetries: Infinity, maxWaitSeconds: Infinity });

  const usersAfter = async (
    id: string,
    pageSize: number = MAX_PAGE_SIZE,
    { signal }: Call = {},
  ): Promise<UsersAfter> => {
    const params = { query: { after: id, page_size: pageSize } };
    return dataOf(await http.GET('/v1/users', { params, ...(signal && { signal }) })) as UsersAfter;
  };

  const listUsers = async (query: UserQuery = {}, { signal }: Call = {}): Promise<UserPage> =>
    dataOf(await http.GET('/v1/users', { params: { query }, ...(signal && { signal }) })) as UserPage;

  async function* everyPage(query: UserQuery, call: Call): AsyncGenerator<UserPage, void, void> {
    for (let page = 1, lastPage = 1; page <= lastPage; page += 1) {
      const found = await listUsers({ page, ...query }, call);
      yield found;
      lastPage = found.total_pages;
    }
  }

  return {
    /** Links a buyer. A repeated call with the same person returns the existing user. */
    async linkBuyer(body: NewUser, { accessToken, signal }: LinkOptions = {}): Promise<LinkedUser> {
      const headers = accessToken === undefined ? {} : bearer(accessToken);
      const reply = await http.POST('/v1/users', { body, headers, ...(signal && { signal }) });
      return { user: dataOf(reply), isNew: reply.response.status === 201 };
    },

    /** Returns one of your users. Throws `user_not_found` if the id is unknown or the user was removed. */
    async getUser(id: string, { signal }: Call = {}): Promise<User> {
      return dataOf(await http.GET('/v1/users/{id}', { params: byUserId(id), ...(signal && { signal }) }));
    },

    /**
     * Corrects the display_name, the external_id (null clears it) or both. Throws `user_not_found`, and `external_id_conflict` if another
     * of your users has the external id.
     */
    async updateUser(id: string, body: UserUpdate, { signal }: Call = {}): Promise<CorrectedUser> {
      const params = byUserId(id);
      return dataOf(await http.PATCH('/v1/users/{id}', { params, body, ...(signal && { signal }) }));
    },

    /**
     * Checks a user again, also with another phone, and returns it as it is now. Throws `identity_mismatch` or `phone_not_owned` after a
     * verdict against the person: the user stays as it is.
     */
    async checkUser(id: string, body: CheckedPerson, { signal }: Call = {}): Promise<User> {
      const request = { params: byUserId(id), body, ...(signal && { signal }) };
      return dataOf(await http.POST('/v1/users/{id}/checks', request));
    },

    /** Removes one of your users. A repeated call succeeds. Throws `user_not_found` if the id was never yours. */
    async removeUser(id: string, { signal }: Call = {}): Promise<void> {
      await http.DELETE('/v1/users/{id}', { params: byUserId(id), ...(signal && { signal }) });
    },

    /** Returns your users with this phone, in the order of linking; none if there is no such user. */
    async findByPhone(phone: string, call: Call = {}): Promise<readonly User[]> {
      const users: User[] = [];
      for await (const { data } of everyPage({ phone, page_size: MAX_PAGE_SIZE }, call)) users.push(...data);
      return users;
    },

    /** Returns your user with this external id, or undefined. */
    async findByExternalId(externalId: string, call: Call = {}): Promise<User | undefined> {
      const { data } = await listUsers({ external_id: externalId }, call);
      return data[0];
    },

    /** Returns one page of your users, in the order of linking. */
    listUsers,

    /**
     * Iterates over all pages, from the first: `for await (const { data } of client.pages()) …`. `pageSize` is the number of users on a
     * page, from 1 to 100, default 100. Every page but the last is full. A removal while you iterate moves the later users up by one.
     */
    pages: (pageSize: number = MAX_PAGE_SIZE, call: Call = {}): AsyncGenerator<UserPage, void, void> =>
      everyPage({ page_size: pageSize }, call),

    /** Returns up to `pageSize` users (1 to 100, default 100) that were linked after the user with this id, which may be removed. */
    usersAfter,

    /**
     * Iterates over all your users, in the order of linking: `for await (const user of client.users()) …` Skips and repeats nobody,
     * whatever is linked or removed meanwhile.
     */
    async *users(call: Call = {}): AsyncGenerator<User, void, void> {
      let page: UsersAfter = await listUsers({ page_size: MAX_PAGE_SIZE }, call);
      yield* page.data;
      while (page.next_after !== null) {
        page = await usersAfter(page.next_after, MAX_PAGE_SIZE, call);
        yield* page.data;
      }
    },

    /** Returns one page of events: the changes of your users, oldest first. Throws `events_expired`. */
    async listEvents(query: EventQuery = {}, { signal }: Call = {}): Promise<EventPage> {
      return dataOf(await http.GET('/v1/events', { params: { query }, ...(signal && { signal }) }));
    },

    /**
     * Iterates over the events and waits for new ones: `for await (const event of client.events({ after, signal })) …`. Store
     * `event.sequence` with what you did for the event, and pass it as `after` when you start again. It reads 1 s after events, and
     * less often while there are none, down to every 30 s. It repeats a read for as long as the service is unavailable or the rate
     * limit is used up. It ends when `signal` is aborted. Throws `events_expired`.
     */
    events: (options: EventsOptions = {}): AsyncGenerator<UserEvent, void, void> => {
      const read = async (after: number | undefined, signal: AbortSignal): Promise<EventPage> =>
        dataOf(
          await patientHttp.GET('/v1/events', {
            params: { query: after === undefined ? {} : { after } },
            signal,
          }),
        );
      return followEvents({ read, sleep: retries.sleep }, options);
    },

    /**
     * Sends a one-time code by SMS, in Persian or with `locale: 'en'` in English. Retried only after `rate_limit_exceeded`: after any
     * other error the SMS may have been sent.
     */
    async sendCode(phone: string, { locale = 'fa', signal }: SendCodeOptions = {}): Promise<CodeSent> {
      const body = { phone, locale };
      return dataOf(await http.POST('/v1/auth/otp/send', { body, ...(signal && { signal }) }));
    },

    /** Exchanges a code for an access token. Retried only after `rate_limit_exceeded`: after any other error the code may be used. */
    async verifyCode(phone: string, code: string, { signal }: Call = {}): Promise<AccessToken> {
      const body = { phone, code };
      return dataOf(await http.POST('/v1/auth/otp/verify', { body, ...(signal && { signal }) }));
    },

    /** For the buyer app: returns the links of the signed-in buyer's phone with this person, the oldest first. */
    async findLinks(
      accessToken: string,
      body: ClaimedPerson,
      { signal }: Call = {},
    ): Promise<readonly BuyerLink[]> {
      const request = { body, headers: bearer(accessToken), ...(signal && { signal }) };
      return dataOf(await http.POST('/v1/buyer/links/find', request)).data;
    },

    /** For the buyer app: ends a link of the signed-in buyer for good. A repeated call succeeds. */
    async endLink(accessToken: string, id: string, { signal }: Call = {}): Promise<void> {
      const params = byId(id, /^lnk_[\w-]{22}$/, 'A link id is lnk_ and 22 characters.');
      const request = { params, headers: bearer(accessToken), ...(signal && { signal }) };
      await http.DELETE('/v1/buyer/links/{id}', request);
    },

    /** Returns the key that this client uses. */
    async key({ signal }: Call = {}): Promise<Key> {
      return dataOf(await http.GET('/v1/key', { ...(signal && { signal }) }));
    },

    /** Returns what the key used in the last `days` times 24 hours: 1 to 35, default 7. */
    async usage(days?: number, { signal }: Call = {}): Promise<KeyUsage> {
      const query = days === undefined ? {} : { days };
      return dataOf(await http.GET('/v1/key/usage', { params: { query }, ...(signal && { signal }) }));
    },

    /**
     * Gives the key a new secret, which works beside the old one for `graceHours`: 1 to 720, default 24. This client goes on with the old
     * one. Retried only after `rate_limit_exceeded`. Throws `too_many_secrets` until the older one has ended, also if the response of a
     * rotation was lost: then the operator can make another secret.
     */
    async rotateKey(graceHours = 24, { signal }: Call = {}): Promise<NewSecret> {
      const body = { grace_hours: graceHours };
      return dataOf(await http.POST('/v1/key/secrets', { body, ...(signal && { signal }) }));
    },
  };
};

/** A client of the Buyer Linking API. */
export type BuyerLinkingClient = ReturnType<typeof buyerLinking>;
