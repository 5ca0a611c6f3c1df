import { randomCode } from '#shared/one-time-codes/new-code.ts';

describe('randomCode', () => {
  it('has six digits, also when they begin with zeros, as one in ten of 1,000 codes does', () => {
    const codes = Array.from({ length: 1000 }, () => randomCode('+989121234567'));
    expect(codes.filter((code) => !/^[0-9]{6}$/.test(code))).toEqual([]);
    expect(codes.filter((code) => code.startsWith('0')).length).toBeGreaterThan(0);
  });
});
