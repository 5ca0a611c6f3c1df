import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import {
  type ReceivedRequest,
  type ScriptedReply,
  scriptedServer,
} from '#test/shared/providers/scripted-server.ts';

export const ID = '9990000010';
export const PHONE = '+989990000001';
export const DAY = { year: 1370, month: 1, day: 5 };

/** A server that replaces Jibit for one test file, with the registry under test. */
export const scriptedJibit = () => {
  const server = scriptedServer();
  /** The registry over the server, without tokens yet. */
  const registry = () =>
    identityRegistryFrom(
      ['jibit'],
      fixedSecret(
        JSON.stringify({
          jibit: { api_key: 'the-key', secret_key: 'the-secret', base_url: `${server.baseUrl}/ide` },
        }),
      ),
      { retryPauseMs: () => 1, circuit: { failuresToOpen: 1000 } },
    );
  return {
    server,
    registry,
    /** Makes the server issue the tokens `t1`, `t2`, … and respond to inquiries with `inquiry`. Returns a registry over it. */
    replying(inquiry: (request: ReceivedRequest) => ScriptedReply | Promise<ScriptedReply>) {
      let tokens = 0;
      server.replyWith((request) => {
        if (!request.path.startsWith('/ide/v1/tokens/')) return inquiry(request);
        tokens += 1;
        return { status: 200, json: { accessToken: `t${tokens}`, refreshToken: `r${tokens}` } };
      });
      return registry();
    },
    /** The paths requested so far. */
    paths: () => server.requests.map(({ path }) => path.replace('/ide/v1/', '')),
  };
};

/** A response with a person's record. */
export const record = (fields: object = {}) => ({
  status: 200,
  json: {
    nationalCode: ID,
    birthDate: '13700105',
    identityInfo: { nationalCode: ID, alive: true, ...fields },
  },
});
