/**
 * THE table: a row an endpoint. The CDK API, the authorizer's policy, the OpenAPI document, the local gateway and the security suite
 * are folded from it. It holds plain data and schemas alone, so it loads with no environment, no SDK and nothing set up.
 * Adding an endpoint = a row here, a file of the same name in functions/, a test.
 */
import * as v from 'valibot';
import { jwksSchema } from '#shared/access-tokens/schema.ts';
import { DOCS_PAGE_FILES } from '#shared/docs-page/files.ts';
import { openApiDocumentSchema } from '#shared/docs-page/openapi-schema.ts';
import {
  accessTokenSchema,
  codeSentSchema,
  sendCodeSchema,
  verifyCodeSchema,
} from '#shared/one-time-codes/schema.ts';
import type { ProblemCode } from '#shared/problems.ts';
import type { Scope } from '#shared/scopes.ts';
import { newUserSchema, userPageQuerySchema, userPageSchema, userSchema } from '#shared/users/schema.ts';

type ObjectSchema = v.GenericSchema & { readonly entries: Readonly<Record<string, v.GenericSchema>> };

/**
 * Who may call. `key`: any valid key, one that holds `scope` if it is named. `otp`: any valid key, or nobody's where the deploy
 * setting otpAccess is `public`. `public`: open to all; every such row is named in an infra test, so that forgetting fails closed.
 */
export type Access =
  | { readonly by: 'key'; readonly scope?: Scope }
  | { readonly by: 'otp' }
  | { readonly by: 'public' };

/** The DynamoDB actions a function is granted, by verb. A transaction is granted through the verbs of its parts. */
export type TableAction = 'GetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'ConditionCheckItem';

/** What a function needs besides its code: its grants and its environment are derived from this. */
export interface Permissions {
  readonly table?: readonly TableAction[];
  readonly hashes?: true;
  readonly identityRegistry?: true;
  readonly sms?: true;
  readonly signingKey?: 'sign' | 'publish';
  /** Files that stand beside the function's code: name -> where npm put it. The Lambda bundle copies them, see docs-page/assets.ts. */
  readonly files?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly description: string;
  readonly schema: v.GenericSchema;
  /** Of an answer that is text and not JSON; its schema is a string's then. The handler's own Content-Type goes before it. */
  readonly mediaType?: string;
  /** Headers of this answer besides those that every answer carries: name -> what it says. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The chapters of the reference page, in its order. */
export const TAGS = {
  Users: 'Buyers linked to your account.',
  'One-time codes': 'Sign a buyer in by phone: send six digits, trade them for an access token.',
  'Access tokens': 'What a verifier of access tokens needs.',
  Documentation: 'This interface, for machines and for people.',
} as const;

export interface Route {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** In the syntax of API Gateway: `{file}` stands for any one segment, and the handler finds it under that name. */
  readonly path: string;
  readonly access: Access;
  /** Its chapter of the reference page; without one the row is no part of the published interface. */
  readonly tag?: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
  readonly body?: ObjectSchema;
  readonly query?: ObjectSchema;
  readonly responses: Readonly<Record<number, Answer>>;
  /** The refusals of its own rules. Those that every route of its kind has are added by `problemsOf`. */
  readonly problems: readonly ProblemCode[];
  readonly permissions: Permissions;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** What people cannot do while this is broken: the first sentence of its alarm. */
  readonly impact: string;
}

export const routes = {
  'create-user': {
    name: 'create-user',
    method: 'POST',
    path: '/v1/users',
    access: { by: 'key', scope: 'users:write' },
    tag: 'Users',
    summary: 'Link a buyer',
    description:
      'Checks that the phone is a registered buyer, that a living person has this national_id and birth_date, and that the phone ' +
      'belongs to that person; then links the buyer to your account. Sending the same national_id, phone and birth_date again answers ' +
      '200 with the existing user and makes no new check, so a request may be repeated after a time-out.',
    body: newUserSchema,
    responses: {
      201: { description: 'The buyer is linked.', schema: userSchema },
      200: { description: 'This buyer was linked before; this is the existing user.', schema: userSchema },
    },
    problems: [
      'buyer_not_registered',
      'user_conflict',
      'identity_mismatch',
      'phone_not_owned',
      'verification_unavailable',
    ],
    permissions: {
      table: ['GetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
      hashes: true,
      identityRegistry: true,
    },
    memoryMb: 1024,
    timeoutSeconds: 20,
    impact: 'Sellers cannot link buyers.',
  },
  'list-users': {
    name: 'list-users',
    method: 'GET',
    path: '/v1/users',
    access: { by: 'key', scope: 'users:read' },
    tag: 'Users',
    summary: 'List your users',
    description:
      'The users linked to your account, oldest link first. Pages never shift: a full page keeps its users for ever. ' +
      'A page past the end is empty. Any page costs the same.',
    query: userPageQuerySchema,
    responses: {
      200: {
        description: 'One page of users.',
        schema: userPageSchema,
        headers: { Link: 'The first, prev, next and last pages, where they exist (RFC 8288).' },
      },
    },
    problems: [],
    permissions: { table: ['GetItem', 'Query', 'UpdateItem'] },
    memoryMb: 1024,
    timeoutSeconds: 10,
    impact: 'Sellers cannot see their users.',
  },
  'send-otp': {
    name: 'send-otp',
    method: 'POST',
    path: '/v1/auth/otp/send',
    access: { by: 'otp' },
    tag: 'One-time codes',
    summary: 'Send a one-time code',
    description:
      'Sends six digits by SMS, valid for 300 seconds and for one use. A new code replaces the old one. The answer is the same whether ' +
      'or not the phone is known. Limits of a phone: 60 seconds between sends, 5 sends in 10 minutes, 10 in 24 hours.',
    body: sendCodeSchema,
    responses: { 202: { description: 'The code is on its way.', schema: codeSentSchema } },
    problems: ['resend_too_soon', 'sms_unavailable'],
    permissions: { table: ['GetItem', 'UpdateItem'], hashes: true, sms: true },
    memoryMb: 1024,
    timeoutSeconds: 20,
    impact: 'Buyers get no sign-in codes.',
  },
  'verify-otp': {
    name: 'verify-otp',
    method: 'POST',
    path: '/v1/auth/otp/verify',
    access: { by: 'otp' },
    tag: 'One-time codes',
    summary: 'Verify a one-time code',
    description:
      'Trades the code for an access token. Five tries a code; after ten consecutive failures, over all codes, the phone is locked for ' +
      '15 minutes. A wrong, expired, used or never sent code gets one and the same answer.',
    body: verifyCodeSchema,
    responses: { 200: { description: 'The code was right.', schema: accessTokenSchema } },
    problems: ['code_rejected', 'too_many_attempts'],
    permissions: { table: ['UpdateItem'], hashes: true, signingKey: 'sign' },
    memoryMb: 1024,
    timeoutSeconds: 10,
    impact: 'Buyers cannot sign in.',
  },
  'get-jwks': {
    name: 'get-jwks',
    method: 'GET',
    path: '/.well-known/jwks.json',
    access: { by: 'public' },
    tag: 'Access tokens',
    summary: 'The public keys of access tokens',
    description: 'A JSON Web Key Set (RFC 7517). Any JOSE library verifies an access token with it.',
    responses: {
      200: {
        description: 'The keys.',
        schema: jwksSchema,
        headers: {
          'Cache-Control': 'public, max-age=300: a key is published at least that long before it signs.',
        },
      },
    },
    problems: [],
    permissions: { signingKey: 'publish' },
    memoryMb: 512,
    timeoutSeconds: 10,
    impact: 'Sellers cannot verify access tokens once their copy of the keys has run out.',
  },
  'get-openapi': {
    name: 'get-openapi',
    method: 'GET',
    path: '/v1/openapi.json',
    access: { by: 'public' },
    tag: 'Documentation',
    summary: 'This document',
    description: 'The interface as an OpenAPI 3.0 document, to generate clients from.',
    responses: { 200: { description: 'The document.', schema: openApiDocumentSchema } },
    problems: [],
    permissions: {},
    memoryMb: 512,
    timeoutSeconds: 10,
    impact: 'Sellers cannot read the OpenAPI document, and the reference page stays empty.',
  },
  'get-docs': {
    name: 'get-docs',
    method: 'GET',
    path: '/docs',
    access: { by: 'public' },
    tag: 'Documentation',
    summary: 'The reference page',
    description: 'The interface as a page for people, with a form to try each operation.',
    responses: {
      200: {
        description: 'The page.',
        schema: v.string(),
        mediaType: 'text/html; charset=utf-8',
        headers: { 'Cache-Control': 'public, max-age=300.' },
      },
    },
    problems: [],
    permissions: {},
    memoryMb: 512,
    timeoutSeconds: 10,
    impact: 'Sellers cannot open the reference page.',
  },
  'get-docs-asset': {
    name: 'get-docs-asset',
    method: 'GET',
    path: '/docs/{file}',
    access: { by: 'public' },
    summary: 'A script or style sheet of the reference page',
    description: 'Its name holds its version, so a browser keeps it for a year.',
    responses: {
      200: {
        description: 'The file.',
        schema: v.string(),
        mediaType: 'text/plain; charset=utf-8',
        headers: { 'Cache-Control': 'public, max-age=31536000, immutable.' },
      },
    },
    problems: ['not_found'],
    permissions: { files: DOCS_PAGE_FILES },
    memoryMb: 512,
    timeoutSeconds: 10,
    impact: 'The reference page loads without its renderer.',
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** Every row, in the order of the table. */
export const allRoutes: readonly Route[] = Object.values(routes);

/** Whether a row asks for a key in this deployment. */
export const requiresKey = (route: Route, otpAccess: 'api-key' | 'public'): boolean =>
  route.access.by === 'key' || (route.access.by === 'otp' && otpAccess === 'api-key');

/** The scope a key must hold for a row; undefined if any valid key will do, or none is asked for. */
export const scopeOf = (route: Route): Scope | undefined =>
  route.access.by === 'key' ? route.access.scope : undefined;

/** Every refusal a row can answer, those of its kind included. */
export const problemsOf = (route: Route): readonly ProblemCode[] => [
  ...(route.body ? (['malformed_json', 'unsupported_media_type'] as const) : []),
  'validation_failed',
  ...(route.access.by === 'public' ? [] : (['invalid_api_key', 'rate_limit_exceeded'] as const)),
  ...(scopeOf(route) === undefined ? [] : (['insufficient_scope'] as const)),
  ...route.problems,
  'internal',
];
