import { newPerson, newPhone } from '#test/generated-people.ts';
import { call, expectProblem } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

const create = (target: Target, text: string, headers: Readonly<Record<string, string>> = {}) =>
  call(target, '/v1/users', { key: target.keys.write_only, text, headers });

const list = (target: Target, query: string) =>
  call(target, `/v1/users${query}`, { key: target.keys.read_only });

const pointersOf = async (reply: ReturnType<typeof call>): Promise<string[]> => {
  const { errors = [] } = expectProblem(await reply, 'validation_failed');
  return errors.map(({ pointer = '' }) => pointer).sort();
};

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

    scenario('with an invisible display name is refused', async () => {
      for (const display_name of [
        '\u200b',
        '\u200d',
        '\u3164',
        '\u2800',
        '\u200e',
        'a\u2028b',
        'a\u{e0041}',
      ]) {
        expect(await pointersOf(create(target(), JSON.stringify({ ...newPerson(), display_name })))).toEqual([
          '#/display_name',
        ]);
      }
    });

    scenario('of another media type is refused with unsupported_media_type', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
        const reply = await create(target(), JSON.stringify(newPerson()), { 'Content-Type': type });
        expectProblem(reply, 'unsupported_media_type');
      }
    });

    scenario('is accepted with a charset, another case or a +json type', async () => {
      for (const type of [
        'application/json; charset=utf-8',
        'APPLICATION/JSON',
        'application/problem+json',
      ]) {
        const reply = await create(target(), JSON.stringify(newPerson()), { 'Content-Type': type });
        expectProblem(reply, 'buyer_not_registered');
      }
    });

    scenario('is refused with the names of all missing, wrong and unknown fields', async () => {
      const body = {
        national_id: '0000000000',
        phone: 9_121_234_567,
        display_name: '\u202e',
        extra: 1,
        'a/b~c': 2,
      };
      expect(await pointersOf(create(target(), JSON.stringify(body)))).toEqual(
        ['#/a~1b~0c', '#/birth_date', '#/display_name', '#/extra', '#/national_id', '#/phone'].sort(),
      );
    });

    scenario('is refused as malformed for fields that could change the prototype of objects', async () => {
      for (const field of ['"__proto__":{"admin":true}', '"constructor":{"prototype":{}}']) {
        const text = JSON.stringify(newPerson()).replace('{', `{${field},`);
        expectProblem(await create(target(), text), 'malformed_json');
      }
    });

    scenario('is not echoed in the refusal', async () => {
      const reply = await create(target(), JSON.stringify({ ...newPerson(), national_id: '1234567890' }));
      expect(reply.text).not.toContain('1234567890');
    });

    scenario('is refused for a birth date that is no real day or lies in the future', async () => {
      for (const birth_date of [
        '1370/13/1',
        '1370/12/31',
        '1991/2/29',
        '1399/12/31',
        '2190/1/1',
        '1370-1-15',
        '70/1/15',
      ]) {
        expect(await pointersOf(create(target(), JSON.stringify({ ...newPerson(), birth_date })))).toEqual([
          '#/birth_date',
        ]);
      }
    });

    scenario('of the one-time-code operations is validated in the same way', async () => {
      const key = target().keys.app;
      const send = call(target(), '/v1/auth/otp/send', { key, body: { phone: '12', code: '1' } });
      expect(await pointersOf(send)).toEqual(['#/code', '#/phone']);
      const verify = call(target(), '/v1/auth/otp/verify', {
        key,
        body: { phone: newPhone(), code: '12345' },
      });
      expect(await pointersOf(verify)).toEqual(['#/code']);
    });
  });

  describe('a query', () => {
    scenario('is refused with the names of all wrong parameters', async () => {
      expect(await parametersOf(list(target(), '?page=0&page_size=101&cursor=x'))).toEqual([
        'cursor',
        'page',
        'page_size',
      ]);
    });

    scenario('accepts only positive integers without leading zeros as a page', async () => {
      for (const page of ['0', '-1', '1.5', '1e3', '0x1', '', '01', '%2B1', 'NaN', '9007199254740993']) {
        expect(await parametersOf(list(target(), `?page=${page}`))).toEqual(['page']);
      }
    });

    scenario('is refused for a parameter that is sent twice', async () => {
      expect(await parametersOf(list(target(), '?page=1&page=1'))).toEqual(['page']);
    });

    scenario('is refused for an invalid percent escape', async () => {
      expect(await parametersOf(list(target(), '?page=%zz'))).toEqual(['page']);
    });

    scenario('is refused by an operation without parameters', async () => {
      const body = { phone: newPhone() };
      const reply = call(target(), '/v1/auth/otp/send?phone=1&__proto__=1', { key: target().keys.app, body });
      expect(await parametersOf(reply)).toEqual(['__proto__', 'phone']);
    });
  });
};
