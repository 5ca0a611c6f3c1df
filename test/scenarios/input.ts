import { call, expectProblem } from './call.ts';
import { newPerson, newPhone } from './people.ts';
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

/** What is wrong with a body or a query is said all at once, by name, and nothing sent is said back. */
export const inputScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options);

  describe('a body', () => {
    scenario('that is no JSON object is malformed_json', async () => {
      for (const text of ['', '{', 'null', '[]', '42', '"text"', '{"phone":}', "{'phone':1}"]) {
        expectProblem(await create(target(), text), 'malformed_json');
      }
    });

    scenario('of another type is unsupported_media_type', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
        const reply = await create(target(), JSON.stringify(newPerson()), { 'Content-Type': type });
        expectProblem(reply, 'unsupported_media_type');
      }
    });

    scenario('with a charset or another case of its type is JSON', async () => {
      for (const type of [
        'application/json; charset=utf-8',
        'APPLICATION/JSON',
        'application/problem+json',
      ]) {
        const reply = await create(target(), JSON.stringify(newPerson()), { 'Content-Type': type });
        expectProblem(reply, 'buyer_not_registered');
      }
    });

    scenario('has every fault named at once: missing, bad and unknown', async () => {
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

    scenario('may not hold what would poison a prototype: a field like any other, and unknown', async () => {
      const text = JSON.stringify(newPerson()).replace(
        '{',
        '{"__proto__":{"admin":true},"constructor":{"prototype":{}},',
      );
      expect(await pointersOf(create(target(), text))).toEqual(['#/__proto__', '#/constructor']);
    });

    scenario('is not said back', async () => {
      const reply = await create(target(), JSON.stringify({ ...newPerson(), national_id: '1234567890' }));
      expect(reply.text).not.toContain('1234567890');
    });

    scenario('has a real day of birth that is not ahead', async () => {
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

    scenario('of the one-time-code operations is held to the same', async () => {
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
    scenario('has every fault named at once', async () => {
      expect(await parametersOf(list(target(), '?page=0&page_size=101&cursor=x'))).toEqual([
        'cursor',
        'page',
        'page_size',
      ]);
    });

    scenario('takes whole numbers only', async () => {
      for (const page of ['0', '-1', '1.5', '1e3', '0x1', '', '01', '%2B1', 'NaN', '9007199254740993']) {
        expect(await parametersOf(list(target(), `?page=${page}`))).toEqual(['page']);
      }
    });

    scenario('may name a parameter once', async () => {
      expect(await parametersOf(list(target(), '?page=1&page=1'))).toEqual(['page']);
    });

    scenario('with a broken escape is a bad value and no failure', async () => {
      expect(await parametersOf(list(target(), '?page=%zz'))).toEqual(['page']);
    });

    scenario('is unknown to an operation that has none', async () => {
      const body = { phone: newPhone() };
      const reply = call(target(), '/v1/auth/otp/send?phone=1&__proto__=1', { key: target().keys.app, body });
      expect(await parametersOf(reply)).toEqual(['__proto__', 'phone']);
    });
  });
};
