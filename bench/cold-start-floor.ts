import { DynamoDBClient, GetItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/**
 * The bare handler that the deployed function is compared with: it makes the same three calls to the table and returns the same
 * users with the plain SDK client. It has no framework, no validation, no log and no problem bodies.
 */
const client = new DynamoDBClient({ endpoint: process.env.DYNAMODB_ENDPOINT ?? '' });
const TableName = process.env.TABLE_NAME;

/** Returns one page of users as GET /v1/users does. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  const sellerId = event.requestContext.authorizer?.sellerId;
  const page = Number(event.multiValueQueryStringParameters?.page?.[0] ?? 1);
  const [, { Items = [] }] = await Promise.all([
    client.send(
      new GetItemCommand({ TableName, Key: { pk: { S: `SELLER#${sellerId}` }, sk: { S: 'SELLER' } } }),
    ),
    client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':pk': { S: `USERS#${sellerId}` },
          ':first': { S: String((page - 1) * 20 + 1).padStart(12, '0') },
          ':last': { S: String(page * 20).padStart(12, '0') },
        },
      }),
    ),
    client.send(
      new UpdateItemCommand({
        TableName,
        Key: { pk: { S: `LIMIT#${sellerId}` }, sk: { S: 'LIMIT' } },
        UpdateExpression: 'ADD #count :one',
        ExpressionAttributeNames: { '#count': 'count' },
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }),
    ),
  ]);
  return { statusCode: 200, body: JSON.stringify({ data: Items.map((item) => item.id?.S) }) };
};
