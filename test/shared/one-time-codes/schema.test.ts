import * as v from 'valibot';
import { verifyCodeSchema } from '#shared/one-time-codes/schema.ts';
import { itForAll } from '#test/for-all.ts';

const parsed = (code: string) => v.safeParse(verifyCodeSchema, { phone: '09990000001', code });

describe('verifyCodeSchema', () => {
  itForAll(['012345', ' 012 345 ', '0 1 2 3 4 5', '۰۱۲ ۳۴۵', '٠١٢٣٤٥'])(
    'reads a code in every script, with spaces, as six ASCII digits',
    (code) => {
      expect(parsed(code).output).toMatchObject({ code: '012345' });
    },
  );

  itForAll(['', '12345', '12345 ', '0123456', '012-345', '012\t345', 'a12345'])(
    'rejects every other form of a code',
    (code) => {
      expect(parsed(code).issues?.[0].message).toBe('Must be six digits.');
    },
  );
});
