import * as v from 'valibot';
import { problemsOf } from '#shared/route.ts';
import { expectProblem } from '#test/scenarios/call.ts';
import type { ProblemBody } from '#test/scenarios/target.ts';
import { type AttackOptions, attackBy, keyFor, MARKER, named } from './attack.ts';
import { validBody } from './valid-request.ts';

/** Values that no string field accepts. */
const NEVER_VALID: readonly (readonly [string, unknown])[] = [
  ['an operator object', { $gt: MARKER }],
  ['an array', [MARKER]],
  ['null', null],
  ['a boolean', true],
  ['an object with inherited names', { constructor: MARKER, toString: MARKER }],
  ['a null byte', `${MARKER}\u0000`],
  ['a lone surrogate', `${MARKER}\ud800`],
  ['a line break', `${MARKER}\r\nX-Injected: 1`],
  ['10,000 characters', MARKER.repeat(900)],
  ['spaces without end', `0${' -'.repeat(5000)}9`],
];

/** Values that are dangerous to an interpreter. A free text field may accept them; no other field does. */
const HOSTILE_TEXT: readonly string[] = [
  `' OR 1=1 -- ${MARKER}`,
  `{"$ne":"${MARKER}"}`,
  `<script>${MARKER}</script>`,
  `\${jndi:ldap://${MARKER}}`,
  `../../etc/${MARKER}`,
  `SELLER#${MARKER}`,
];

/** Hostile values in each field of an otherwise valid body, additional fields, and bodies over 16 KB. */
export const bodyAttacks = ({ routes, target }: AttackOptions): void => {
  const attack = attackBy(target);
  const rows = routes.filter((route) => route.body !== undefined);
  const fields = rows.flatMap((route) =>
    Object.keys(route.body?.entries ?? {}).map((field) => [route.name, field, route] as const),
  );

  describe.each(fields)('%s with a hostile %s in an otherwise valid body', (_name, field, route) => {
    const attackField = (value: unknown) =>
      attack(route, { key: keyFor(route, target()), body: { ...validBody(route), [field]: value } });

    // A field that may be null is cleared by it.
    const isNullable = v.safeParse(route.body?.entries[field] as v.GenericSchema, null).success;

    it.each(NEVER_VALID.filter(([, value]) => !(isNullable && value === null)))(
      'returns 422 for this field alone to %s, and echoes nothing',
      async (_what, value) => {
        const reply = await attackField(value);
        const { errors = [] } = expectProblem(reply, 'validation_failed');
        expect(errors.map(({ pointer }) => pointer)).toEqual([`#/${field}`]);
        expect(reply.text).not.toContain(MARKER);
      },
    );

    it.each(HOSTILE_TEXT)('returns a declared problem for %s, and echoes nothing', async (value) => {
      const reply = await attackField(value);
      const { code } = reply.json<ProblemBody>();
      expect(problemsOf(route).filter((declared) => declared !== 'internal')).toContain(code);
      expectProblem(reply, code);
      expect(reply.text).not.toContain(MARKER);
    });
  });

  describe.each(named(rows))('%s', (_name, route) => {
    const key = () => keyFor(route, target());

    it('reaches its own rules with the valid body of these attacks', async () => {
      const reply = await attack(route, { key: key() });
      const outcome = reply.status < 300 ? reply.status : reply.json<ProblemBody>().code;
      const own = [
        ...Object.keys(route.responses).map(Number),
        ...route.problems,
        ...(route.pathParameters === undefined ? [] : [route.pathParameters.problem]),
      ];
      expect(own).toContain(outcome);
    });

    it.each(['"__proto__":{"isAdmin":true}', '"constructor":{"prototype":{}}'])(
      'returns 400 to a valid body with the field %s',
      async (field) => {
        const text = JSON.stringify(validBody(route)).replace('{', `{${field},`);
        expectProblem(await attack(route, { key: key(), text }), 'malformed_json');
      },
    );

    it('returns 422 to additional fields, inherited names included, and names each', async () => {
      const additional = `"seller_id":"${MARKER}","constructor":{"isAdmin":true},"toString":"${MARKER}"`;
      const text = JSON.stringify(validBody(route)).replace('{', `{${additional},`);
      const reply = await attack(route, { key: key(), text });
      const { errors = [] } = expectProblem(reply, 'validation_failed');
      const pointers = errors.map(({ pointer }) => pointer).sort();
      expect(pointers).toEqual(['#/constructor', '#/seller_id', '#/toString']);
      expect(reply.text).not.toContain(MARKER);
    });

    it.each([
      ['JSON', (body: string) => body.replace('{', `{"filler":"${'x'.repeat(16 * 1024)}",`)],
      ['no JSON', () => '['.repeat(17 * 1024)],
      ['combining marks', (body: string) => body.replace('{', `{"filler":"${'\u0301'.repeat(9000)}",`)],
    ])('returns 413 to a body over 16 KB before it parses it: %s', async (_what, textOf) => {
      const text = textOf(JSON.stringify(validBody(route)));
      expectProblem(await attack(route, { key: key(), text }), 'body_too_large');
    });
  });
};
