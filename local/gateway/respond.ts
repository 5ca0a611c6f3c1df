import type { ServerResponse } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';

/** Sends the response of a function or of the gateway. Sends nothing if the client has closed the connection. */
export const respond = (response: ServerResponse, result: APIGatewayProxyResult): void => {
  if (response.destroyed || response.headersSent) return;
  const body = result.isBase64Encoded ? Buffer.from(result.body, 'base64') : Buffer.from(result.body ?? '');
  response.statusCode = result.statusCode;
  for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, String(value));
  for (const [name, values] of Object.entries(result.multiValueHeaders ?? {})) {
    response.setHeader(name, values.map(String));
  }
  // A 204 has no body and no Content-Length (RFC 9110 §8.6).
  if (result.statusCode !== 204) response.setHeader('Content-Length', body.length);
  response.end(result.statusCode === 204 ? undefined : body);
};
