import { useTable } from '#test/table/use-table.ts';
import { ISSUERS, useDeployedFunctions } from './deployed-functions.ts';

const deployed = useDeployedFunctions(useTable());

describe('a stage with several issuers', () => {
  test('writes the first one into tokens', async () => {
    const { headers } = await deployed.of('plain').signIn('+989121234567');
    const [, payload = ''] = headers.authorization.split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString()).iss).toBe(ISSUERS[0]);
  });

  test('tells verifiers the first one', async () => {
    const { status, body } = await deployed.of('plain').call('get-openid-configuration');
    expect(status).toBe(200);
    expect([body.issuer, body.jwks_uri]).toEqual([ISSUERS[0], `${ISSUERS[0]}/.well-known/jwks.json`]);
  });
});
