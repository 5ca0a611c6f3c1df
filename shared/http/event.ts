/** What both kinds of event of API Gateway, a request and its authorizer's, say in the same place. */
interface GatewayEvent {
  readonly headers: Readonly<Record<string, string | undefined>> | null;
  readonly requestContext: { readonly requestId: string; readonly extendedRequestId?: string | undefined };
}

/** The id that callers see in X-Request-Id. A caller can choose `requestId` by a header; nobody can choose the extended one. */
export const requestIdOf = ({ requestContext }: Pick<GatewayEvent, 'requestContext'>): string =>
  requestContext.extendedRequestId ?? requestContext.requestId;

/** A header by its name in lower case, however the caller spelt it. */
export const headerOf = ({ headers }: Pick<GatewayEvent, 'headers'>, name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([sent]) => sent.toLowerCase() === name)?.[1];
