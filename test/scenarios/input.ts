import { newPerson } from '#test/generated-people.ts';
import { call, expectProblem } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

const create = (target: Target, text: string, headers: Readonly<Record<string, string>> = {}) =>
  call(target, '/v1/users', { key: target.keys.write_only, text, headers });

const list = (target: Target, query: string) =>
  call(target, `/v1/users${query}`, { key: target.keys.read_only });

const parametersOf = async (reply: ReturnType<typeof call>): Promise<string[]> => {
  const { errors = [] } = expectProblem(await reply, 'validation_failed');
  return errors.map(({ parameter = '' }) => parameter).sort();
};

/** Validation of bodies and queries: every wrong field is named at once and no value is echoed. */
export const inputScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options);

  describe('a body', () => {
    scenario('that is not a JSON object is refused with malformed_json', async () => {
      for (const text of ['', '{', 'null', '[]', '42', '"text"', '{"phone":}', "{'phone':1}"]) {
        expectProblem(await create(target(), text), 'malformed_json');
      }
    });

    scenario('over 16 KB is refused with body_too_large before it is parsed', async () => {
      const filler = 'x'.repeat(16 * 1024);
      for (const text of [JSON.stringify({ ...newPerson(), display_name: filler }), `{${filler}`]) {
        expectProblem(await create(target(), text), 'body_too_large');
      }
    });

    scenario('of another media type is refused with unsupported_media_type', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
        const reply = await create(target(), JSON.stringify(newPerson()), { 'Content-Type': type });
        expectProblem(reply, 'unsupported_media_type');
      }
    });
  });

  describe('a query', () => {
    scenario('is refused for a parameter that is sent twice', async () => {
      expect(await parametersOf(list(target(), '?page=1&page=1'))).toEqual(['page']);
    });

    scenario('is refused for an invalid percent escape', async () => {
      expect(await parametersOf(list(target(), '?page=%zz'))).toEqual(['page']);
    });
  });
};
