import { bareHandler } from '#bench/harness/bare-handler.ts';
import type { Call } from '#bench/harness/recorder.ts';

const call = (roundTrip: number, target: string | undefined, body: string): Call => ({
  roundTrip,
  target,
  method: 'POST',
  path: '/4000/v1/messages',
  headers: { apikey: 'test' },
  body,
  response: { status: 200, type: 'application/json', body: '{}' },
  units: 0,
});

const request = (calls: readonly Call[]) => ({
  calls,
  result: { statusCode: 202, body: '{}' },
});

describe('the source of a bare handler', () => {
  const source = bareHandler(
    request([
      call(0, 'secretsmanager.GetSecretValue', '{"SecretId":"s"}'),
      call(0, 'DynamoDB_20120810.GetItem', '{"TableName":"t"}'),
      call(1, 'DynamoDB_20120810.Query', '{"TableName":"t"}'),
      call(1, 'TrentService.Sign', '{"Message":"aGk="}'),
      call(2, undefined, 'a=b'),
    ]),
  );

  it('imports the commands of the recorded calls and no others', () => {
    expect(source).toContain(
      "import { DynamoDBClient, GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb'",
    );
    expect(source).toContain("import { KMSClient, SignCommand } from '@aws-sdk/client-kms'");
  });

  it('makes the calls of one round trip at once and passes the recorded input', () => {
    expect(source).toMatch(
      /\[\(\) => secretsmanager\.send\(new GetSecretValueCommand\(\{"SecretId":"s"\}\)\),\s*\(\) => DynamoDB_20120810\.send\(new GetItemCommand\(\{"TableName":"t"\}\)\)\]/,
    );
  });

  it('passes a message to sign as bytes, and calls a provider with fetch', () => {
    expect(source).toContain('new SignCommand({"Message":Buffer.from("aGk=","base64")})');
    expect(source).toContain('fetch(process.env.AWS_ENDPOINT_URL + "/4000/v1/messages"');
  });
});
