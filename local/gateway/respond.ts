import type { ServerResponse } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';

/** Sends the answer of a function or of the gateway. To a client that has hung up it sends nothing. */
export const respond = (response: ServerResponse, result: APIGatewayProxyResult): void => {
  if (response.destroyed || response.headersSent) return;
  const body = result.isBase64Encoded ? Buffer.from(result.body, 'base64') : Buffer.from(result.body ?? '');
  response.statusCode = result.statusCode;
  for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, String(value));
  for (const [name, values] of Object.entries(result.multiValueHeaders ?? {})) {
    response.setHeader(name, values.map(String));
  }
  response.setHeader('Content-Length', body.length);
  response.end(body);
};
