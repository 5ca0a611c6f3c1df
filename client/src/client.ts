import createClient, { type Client } from 'openapi-fetch';
import { type EventPage, type EventsStart, followEvents, type UserEvent } from './events.ts';
import { announcingExpiry } from './expiry.ts';
import type { paths } from './generated/openapi.ts';
import { type Call, checkedOptions, type Options } from './options.ts';
import { isProblem } from './problems.ts';
import { type RetryPolicy, retryingFetch } from './retry.ts';
import type {
  AccessToken,
  BuyerCall,
  BuyerLink,
  CheckedPerson,
  ClaimedPerson,
  CodeRequest,
  CodeSent,
  CorrectedUser,
  EventQuery,
  Key,
  KeyUsage,
  LinkedUser,
  LinkOptions,
  NewSecret,
  NewUser,
  PhoneMatch,
  Rotation,
  TypedCode,
  UsageQuery,
  User,
  UserPage,
  UserQuery,
  UserUpdate,
} from './types.ts';

/** The largest page that the service returns. */
const MAX_PAGE_SIZE = 100;

/** A clock minute of a rate limit and the jitter: for all users one reads more pages than a minute has requests. */
const ALL_USERS_MAX_WAIT_SECONDS = 90;

const DAY_MS = 24 * 3600 * 1000;

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

type Http = Client<paths>;

const listingUsers =
  (http: Http) =>
  async (query: UserQuery = {}, { signal }: Call = {}): Promise<UserPage> =>
    dataOf(await http.GET('/v1/users', { params: { query }, signal }));

const readUsers = (http: Http, httpOfAllUsers: Http) => {
  const listUsers = listingUsers(http);
  const listInTurn = listingUsers(httpOfAllUsers);
  return {
    /** Returns one of your users. Throws `user_not_found` if the id is unknown or the user was removed. */
    async getUser(id: string, { signal }: Call = {}): Promise<User> {
      return dataOf(await http.GET('/v1/users/{id}', { params: byUserId(id), signal }));
    },

    /** Returns one page of your users, in the order of linking; with `phone` or `external_id` those that match. */
    listUsers,

    /** Returns your users with this phone, the one that was checked last first, and how old its check is. */
    async findByPhone(phone: string, call: Call = {}): Promise<PhoneMatch> {
      const { data } = await listUsers({ phone, page_size: MAX_PAGE_SIZE }, call);
      const [last] = data;
      const sinceMs = last && Math.max(0, Date.now() - Date.parse(last.checked_at));
      return {
        users: data,
        daysSinceCheck: sinceMs === undefined ? undefined : Math.floor(sinceMs / DAY_MS),
      };
    },

    /**
     * Iterates over all your users, in the order of linking: `for await (const user of client.users()) …` Skips and repeats nobody,
     * whatever is linked or removed meanwhile. While the rate limit is used up, it waits for the next minute, unless `maxWaitSeconds` is
     * shorter.
     */
    async *users(call: Call = {}): AsyncGenerator<User, void, void> {
      let after: string | undefined;
      do {
        const page = await listInTurn({ page_size: MAX_PAGE_SIZE, after }, call);
        yield* page.data;
        after = page.next_after ?? undefined;
      } while (after !== undefined);
    },
  };
};

const changeUsers = (http: Http) => ({
  /** Links a buyer. A repeated call with the same person returns the existing user. */
  async linkBuyer(body: NewUser, { accessToken, signal }: LinkOptions = {}): Promise<LinkedUser> {
    const headers = accessToken === undefined ? {} : bearer(accessToken);
    const reply = await http.POST('/v1/users', { body, headers, signal });
    return { user: dataOf(reply), isNew: reply.response.status === 201 };
  },

  /**
   * Corrects the display_name, the external_id (null clears it) or both. Throws `user_not_found`, and `external_id_conflict` if another
   * of your users has the external id.
   */
  async updateUser(id: string, body: UserUpdate, { signal }: Call = {}): Promise<CorrectedUser> {
    const params = byUserId(id);
    return dataOf(await http.PATCH('/v1/users/{id}', { params, body, signal }));
  },

  /**
   * Checks a user again, also with another phone, and returns it as it is now. Throws `identity_mismatch` or `phone_not_owned` after a
   * verdict against the person: the user stays as it is.
   */
  async checkUser(id: string, body: CheckedPerson, { signal }: Call = {}): Promise<User> {
    const request = { params: byUserId(id), body, signal };
    return dataOf(await http.POST('/v1/users/{id}/checks', request));
  },

  /** Removes one of your users. A repeated call succeeds. Throws `user_not_found` if the id was never yours. */
  async removeUser(id: string, { signal }: Call = {}): Promise<void> {
    await http.DELETE('/v1/users/{id}', { params: byUserId(id), signal });
  },
});

type UserCalls = ReturnType<typeof readUsers> & ReturnType<typeof changeUsers>;

const returningBuyers = ({ linkBuyer, checkUser, findByPhone, removeUser }: UserCalls) => ({
  /**
   * Links a returning buyer, or checks it again if you linked the person before; only a success says who the buyer is. Then removes your
   * other users with this phone: the number is no longer theirs. Throws the problems of a link and of a check.
   */
  async confirmBuyer(body: NewUser, options: LinkOptions = {}): Promise<LinkedUser> {
    const linked = await linkBuyer(body, options).catch((error: unknown) => {
      if (isProblem(error, 'user_conflict') && error.problem.user_id !== undefined) {
        return { user: { id: error.problem.user_id }, isNew: false } as const;
      }
      throw error;
    });
    const { national_id, birth_date, phone } = body;
    const user = linked.isNew
      ? linked.user
      : await checkUser(linked.user.id, { national_id, birth_date, phone }, options);
    const { users } = await findByPhone(phone, options);
    for (const { id } of users) if (id !== user.id) await removeUser(id, options);
    return { user, isNew: linked.isNew };
  },
});

const signIns = (http: Http) => ({
  /**
   * Sends a one-time code by SMS, in Persian or with `locale: 'en'` in English. Never retried but after `rate_limit_exceeded`, if
   * `maxWaitSeconds` is set: after any other error the SMS may have been sent.
   */
  async sendCode({ phone, locale = 'fa' }: CodeRequest, { signal }: Call = {}): Promise<CodeSent> {
    const body = { phone, locale };
    return dataOf(await http.POST('/v1/auth/otp/send', { body, signal }));
  },

  /** Exchanges a code for an access token. Retried as `sendCode` is: after any other error the code may be used. */
  async verifyCode(body: TypedCode, { signal }: Call = {}): Promise<AccessToken> {
    return dataOf(await http.POST('/v1/auth/otp/verify', { body, signal }));
  },
});

const buyerLinks = (http: Http) => ({
  /** For the buyer app: returns the links of the signed-in buyer's phone with this person, the oldest first. */
  async findLinks(body: ClaimedPerson, { accessToken, signal }: BuyerCall): Promise<readonly BuyerLink[]> {
    const request = { body, headers: bearer(accessToken), signal };
    return dataOf(await http.POST('/v1/buyer/links/find', request)).data;
  },

  /** For the buyer app: ends a link of the signed-in buyer for good. A repeated call succeeds. */
  async endLink(id: string, { accessToken, signal }: BuyerCall): Promise<void> {
    const params = byId(id, /^lnk_[\w-]{22}$/, 'A link id is lnk_ and 22 characters.');
    const request = { params, headers: bearer(accessToken), signal };
    await http.DELETE('/v1/buyer/links/{id}', request);
  },
});

const ownKey = (http: Http) => ({
  /** Returns the key that this client uses. */
  async key({ signal }: Call = {}): Promise<Key> {
    return dataOf(await http.GET('/v1/key', { signal }));
  },

  /** Returns what the key used in the last `days` times 24 hours: 1 to 35, default 7. */
  async usage(query: UsageQuery = {}, { signal }: Call = {}): Promise<KeyUsage> {
    return dataOf(await http.GET('/v1/key/usage', { params: { query }, signal }));
  },

  /**
   * Gives the key a new secret, which works beside the old one for `grace_hours`: 1 to 720, default 24. This client goes on with the old
   * one. Retried as `sendCode` is. Throws `too_many_secrets` until the older one has ended, also if the response of a
   * rotation was lost: then the operator can make another secret.
   */
  async rotateKey({ grace_hours = 24 }: Rotation = {}, { signal }: Call = {}): Promise<NewSecret> {
    return dataOf(await http.POST('/v1/key/secrets', { body: { grace_hours }, signal }));
  },
});

/** `httpOfEvents` repeats a read until the service answers it. */
const events = (http: Http, httpOfEvents: Http, { sleep }: RetryPolicy) => ({
  /** Returns one page of events: the changes of your users, oldest first. Throws `events_expired`. */
  async listEvents(query: EventQuery = {}, { signal }: Call = {}): Promise<EventPage> {
    return dataOf(await http.GET('/v1/events', { params: { query }, signal }));
  },

  /**
   * Iterates over the events and waits for new ones: `for await (const event of client.events({ after })) …`. Store `event.sequence`
   * with what you did for the event, and pass it as `after` when you start again. It reads 1 s after events, and less often while there
   * are none, down to every 30 s. It repeats a read for as long as the service is unavailable or the rate limit is used up. It ends when
   * `signal` is aborted. Throws `events_expired`.
   */
  events: (start: EventsStart = {}, { signal }: Call = {}): AsyncGenerator<UserEvent, void, void> => {
    const read = async (after: number | undefined, untilAborted: AbortSignal): Promise<EventPage> =>
      dataOf(await httpOfEvents.GET('/v1/events', { params: { query: { after } }, signal: untilAborted }));
    return followEvents({ read, sleep }, start, signal);
  },
});

/** Creates a client of the Buyer Linking API. Throws if `baseUrl` is neither https nor http on loopback, or if there is no address or no API key. */
export const buyerLinking = (options: Options = {}) => {
  const { baseUrl, apiKey, onKeyExpiring, retries } = checkedOptions(options);
  const fetch = announcingExpiry(retries.fetch, onKeyExpiring);
  const httpWith = (limits: Partial<RetryPolicy>) =>
    createClient<paths>({
      baseUrl,
      headers: { 'X-Api-Key': apiKey },
      fetch: retryingFetch({ ...retries, fetch, ...limits }),
    });
  const http = httpWith({});
  const { maxWaitSeconds = ALL_USERS_MAX_WAIT_SECONDS } = retries;
  const httpOfEvents = httpWith({ maxRetries: Infinity, maxWaitSeconds: Infinity });
  const users = { ...readUsers(http, httpWith({ maxWaitSeconds })), ...changeUsers(http) };
  return {
    ...users,
    ...returningBuyers(users),
    ...events(http, httpOfEvents, retries),
    ...signIns(http),
    ...buyerLinks(http),
    ...ownKey(http),
  };
};

/** A client of the Buyer Linking API. */
export type BuyerLinkingClient = ReturnType<typeof buyerLinking>;
