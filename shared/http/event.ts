/** The part that the events of a request and of its authorizer have in common. */
interface GatewayEvent {
  readonly headers: Readonly<Record<string, string | undefined>> | null;
  readonly requestContext: { readonly requestId: string; readonly extendedRequestId?: string | undefined };
}

/** The id that callers see in X-Request-Id. A caller can set `requestId` by a header, but not the extended one. */
export const requestIdOf = ({ requestContext }: Pick<GatewayEvent, 'requestContext'>): string =>
  requestContext.extendedRequestId ?? requestContext.requestId;

/** Finds a header case-insensitively. `name` is in lower case. */
export const headerOf = ({ headers }: Pick<GatewayEvent, 'headers'>, name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([sent]) => sent.toLowerCase() === name)?.[1];
