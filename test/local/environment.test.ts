import { setLocalCredentials } from '#local/environment.ts';

describe('setLocalCredentials', () => {
  it("replaces the developer's own credentials, and leaves no profile and no session that would have precedence", () => {
    const own = { AWS_ACCESS_KEY_ID: 'own', AWS_SECRET_ACCESS_KEY: 'own', AWS_REGION: 'eu-central-1' };
    Object.assign(process.env, own, { AWS_PROFILE: 'own', AWS_SESSION_TOKEN: 'own' });
    setLocalCredentials();
    expect(process.env).toMatchObject({
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_REGION: 'us-east-1',
    });
    expect(Object.keys(process.env)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^AWS_(?:PROFILE|SESSION_TOKEN)$/)]),
    );
  });
});
