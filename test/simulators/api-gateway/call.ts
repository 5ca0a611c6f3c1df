import type { State, StoredKey } from './state.ts';

/** An error response of API Gateway: the SDK makes its exception from the name. */
export class ApiGatewayError extends Error {
  readonly status: number;

  constructor(name: string, status: number, message: string) {
    super(message);
    this.name = name;
    this.status = status;
  }
}

export const notFound = (message: string) => new ApiGatewayError('NotFoundException', 404, message);
export const badRequest = (message: string) => new ApiGatewayError('BadRequestException', 400, message);
export const conflict = (message: string) => new ApiGatewayError('ConflictException', 409, message);

/** A management call: the ids in its path, its query and its body. */
export interface Call {
  readonly ids: readonly string[];
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** The response to a call that succeeded. */
export interface Reply {
  readonly status: number;
  readonly body?: object;
}

/** Makes a call on the state. Throws an ApiGatewayError if API Gateway refuses it. */
export type Operation = (state: State, call: Call) => Reply;

/** Returns the key with this id. Throws NotFoundException if there is none. */
export const requireKey = ({ keys }: State, id: string): StoredKey => {
  const key = keys.get(id);
  if (key === undefined) throw notFound('Invalid API Key identifier specified');
  return key;
};

/** Returns a field of a body of unknown shape. */
export const field = (body: unknown, name: string): unknown =>
  (body as Record<string, unknown> | undefined)?.[name];

const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 500;

/** Returns one page of a list as API Gateway does: `item`, and `position` where the next page begins. */
export const pageOf = <T>(all: readonly T[], query: URLSearchParams): { item: T[]; position?: string } => {
  const limit = Number(query.get('limit') ?? DEFAULT_PAGE_SIZE);
  if (!Number.isInteger(limit) || limit < 1) throw badRequest('Invalid limit');
  const start = Number(query.get('position') ?? 0);
  const end = start + Math.min(limit, MAX_PAGE_SIZE);
  return { item: all.slice(start, end), ...(end < all.length ? { position: String(end) } : {}) };
};
