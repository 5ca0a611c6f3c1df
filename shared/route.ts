/** Types and pure functions only. */
import type * as v from 'valibot';
import type { ProblemCode } from '#shared/problems.ts';
import type { HourlyLimitName } from '#shared/rate-limits/key-limits.ts';
import type { Scope } from '#shared/scopes.ts';
import type { ItemPrefix } from '#shared/table/keys.ts';

export type ObjectSchema = v.GenericSchema & { readonly entries: Readonly<Record<string, v.GenericSchema>> };

/**
 * `key`: any valid key, or one with `scope`. `buyer`: with the access token of a buyer; not served if otpAccess is `public`. `otp`: no key if
 * otpAccess is `public`. A test names every `public` row, so that a forgotten `access` fails closed.
 */
type Access =
  | { readonly by: 'key'; readonly scope?: Scope }
  | { readonly by: 'buyer'; readonly scope: Scope }
  | { readonly by: 'otp' }
  | { readonly by: 'public' };

/** A transaction is granted through the actions of its parts. */
export type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

/** By the beginning of the items' partition keys. */
type TablePermissions = { readonly [Prefix in ItemPrefix]?: readonly TableAction[] };

/** The grants and the environment of a function are derived from this: lib/permissions.ts. */
export interface Permissions {
  readonly table?: TablePermissions;
  /** The attributes that an UpdateItem may name, the keys and those of the condition included. Without an entry, all of the item. */
  readonly updates?: { readonly [Prefix in ItemPrefix]?: readonly string[] };
  readonly hashes?: true;
  readonly identityRegistry?: true;
  /** Which identity registries the stage has, without their credentials. */
  readonly identityProviders?: true;
  readonly sms?: true;
  /** Which SMS providers the stage has, without their credentials. */
  readonly smsProviders?: true;
  readonly signingKey?: 'sign' | 'publish';
  readonly tokenIssuer?: true;
  /** The prefix of the stage's keys, which it creates or checks. */
  readonly keyPrefix?: true;
  readonly release?: true;
  readonly support?: true;
  /** Whether the operations of one-time codes require a key. */
  readonly otpAccess?: true;
  /** It serves the files of the built site. */
  readonly site?: true;
}

export interface RouteResponse {
  readonly description: string;
  /** None for a response without a body (204). */
  readonly schema?: v.GenericSchema;
  /** The media type of a text response, whose schema is then a string. A Content-Type from the handler takes precedence. */
  readonly mediaType?: string;
  /** Headers of this response besides the common ones: name -> description. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The groups of operations in the documentation, in its order. */
export const TAGS = {
  Users: 'Buyers linked to your account.',
  Events:
    'What changed: every link, correction and removal of your users, numbered, in order and without a gap.',
  Key: 'Your API key: what it may do, what it used, and a new secret for it.',
  'Buyer app': 'What the buyer app shows a buyer: which sellers linked them, and the end of a link.',
  'One-time codes': 'Sign a buyer in by phone: send six digits, exchange them for an access token.',
  'Access tokens': 'What a verifier of access tokens needs.',
  Documentation: 'The interface as a document for programs and pages for people.',
} as const;

type Tag = keyof typeof TAGS;

/**
 * The request with which a deploy calls a new version before it gets traffic, for a seller that does not exist, and its response: a status or
 * the code of a problem. A read reads. A write stops before it writes or calls a provider.
 */
interface RequestCheck {
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly expects: number | ProblemCode;
}

/**
 * A deploy asks a new version about a well-formed key that does not exist. It throws the same for every key that it refuses; only the outcome
 * that it logs tells that it read the table.
 */
export interface KeyCheck {
  readonly unknownKey: { readonly throws: string; readonly outcome: string };
}

/** A function that API Gateway invokes. */
export interface FunctionRow<Check = RequestCheck | KeyCheck> {
  /** The name of its file in functions/, its construct, log field and metric dimension; of a route also its operationId. */
  readonly name: string;
  readonly summary: string;
  readonly permissions: Permissions;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** When a response must be ready: 3 if not given. A row that calls a provider has the time limit of its function. */
  readonly deadlineSeconds?: number;
  readonly check: Check;
}

export interface Route extends FunctionRow<RequestCheck> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** In the syntax of API Gateway: `{id}` matches one segment, `{path+}` all that follow. */
  readonly path: string;
  /** More paths of the same function. They are no part of the published interface. */
  readonly otherPaths?: readonly string[];
  /** Whether a caller may send a request again when its outcome is unknown: the second one must change nothing and send nothing. */
  readonly repeatable: boolean;
  readonly access: Access;
  /** Its group in the documentation. */
  readonly tag: Tag;
  readonly description: string;
  /** A path that the schema rejects names no resource and gets `problem`. */
  readonly pathParameters?: { readonly schema: ObjectSchema; readonly problem: ProblemCode };
  readonly query?: ObjectSchema;
  /** A page: links in mails get parameters. Other rows reject an unknown parameter. */
  readonly ignoresQuery?: true;
  readonly body?: ObjectSchema;
  /** Where a field that the body does not have is changed: field -> a sentence for the detail of its error. */
  readonly fieldsElsewhere?: Readonly<Record<string, string>>;
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** The problems of its own rules. `problemsOf` adds those that every row of its kind has. */
  readonly problems: readonly ProblemCode[];
  /** The hourly limits that its handler uses. Their states come with the count of the request, which is then made before the handler. */
  readonly limitsRead?: readonly HourlyLimitName[];
}

/** The fields of any function, with the access of a route. */
type OfFunction<Fields extends keyof FunctionRow> = Pick<FunctionRow, Fields> &
  Partial<Pick<Route, 'access'>>;

type WithDefault = 'name' | 'tag' | 'repeatable' | 'memoryMb' | 'timeoutSeconds' | 'problems';

/** A row as it is written. */
export type Row = Omit<Route, WithDefault> & Partial<Pick<Route, Exclude<WithDefault, 'name' | 'tag'>>>;

type Rows<Written> = {
  readonly [Name in keyof Written]: Pick<Route, WithDefault> & Written[Name] & { readonly name: Name };
};

/**
 * Gives each row its name and the defaults: the chapter of its file, repeatable if HTTP says so of the method, no problems, 10 s, 512 MB for
 * a public row and 1,024 MB with a database client.
 */
export const routeRows = <const Written extends Record<string, Row>>(
  tag: Tag,
  rows: Written,
): Rows<Written> =>
  Object.fromEntries(
    Object.entries(rows).map(([name, row]) => {
      const memoryMb = row.access.by === 'public' ? 512 : 1024;
      const repeatable = row.method === 'GET' || row.method === 'DELETE';
      return [name, { name, tag, repeatable, memoryMb, timeoutSeconds: 10, problems: [], ...row }];
    }),
  ) as Rows<Written>;

/** Returns the rows once for each of their paths. */
export const forEachPath = (rows: readonly Route[]): readonly Route[] =>
  rows.flatMap((row) => [row.path, ...(row.otherPaths ?? [])].map((path) => ({ ...row, path })));

/** The methods of a row: a public one answers HEAD too, without its body. */
export const methodsOf = ({ method, access }: Route): readonly string[] =>
  access.by === 'public' ? [method, 'HEAD'] : [method];

export const requiresKey = ({ access }: Pick<Route, 'access'>, otpAccess: 'api-key' | 'public'): boolean =>
  access.by !== 'public' && (access.by !== 'otp' || otpAccess === 'api-key');

/** Where codes are sent without a key, a token names no seller whose app could show links. */
export const isServed = ({ access }: OfFunction<'name'>, otpAccess: 'api-key' | 'public'): boolean =>
  access?.by !== 'buyer' || otpAccess === 'api-key';

export const scopeOf = (route: Pick<Route, 'access'>): Scope | undefined =>
  route.access.by === 'key' || route.access.by === 'buyer' ? route.access.scope : undefined;

export const tokenOf = ({ access, permissions }: Pick<Route, 'access' | 'permissions'>) =>
  access.by === 'buyer' ? 'required' : access.by === 'key' && permissions.signingKey ? 'optional' : 'none';

/** With what the access of a route needs: the rate limiter if it can take a key, and the setting if that decides whether it takes one. */
export const permissionsOf = ({ access, permissions }: OfFunction<'permissions'>): Permissions =>
  access === undefined || access.by === 'public'
    ? permissions
    : {
        ...permissions,
        ...(access.by === 'otp' && { otpAccess: true }),
        table: {
          ...permissions.table,
          'LIMIT#': [...new Set<TableAction>(['UpdateItem', ...(permissions.table?.['LIMIT#'] ?? [])])],
        },
      };

const usesStorage = (route: Pick<Route, 'access' | 'permissions'>): boolean => {
  const { table, hashes, signingKey } = permissionsOf(route);
  return table !== undefined || hashes !== undefined || signingKey !== undefined;
};

export const problemsOf = (route: Route): readonly ProblemCode[] => [
  ...(route.body ? (['malformed_json', 'body_too_large', 'unsupported_media_type'] as const) : []),
  ...(route.ignoresQuery ? [] : (['validation_failed'] as const)),
  ...(route.access.by === 'public' ? [] : (['invalid_api_key', 'rate_limit_exceeded'] as const)),
  ...(scopeOf(route) === undefined ? [] : (['insufficient_scope'] as const)),
  // Of the gateway: an escape in the path that is no character, or an operation that the stage does not serve.
  ...(route.pathParameters || route.access.by === 'buyer' ? (['not_found'] as const) : []),
  ...route.problems,
  ...(usesStorage(route) ? (['service_unavailable'] as const) : []),
  'internal',
];
