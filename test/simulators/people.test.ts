import { parseNationalId } from '#shared/values/national-id.ts';
import { newDemoPerson } from '#test/simulators/people.ts';

describe('the generated people', () => {
  const people = Array.from({ length: 3000 }, newDemoPerson);

  it('never share a national id or a phone in one process', () => {
    expect(new Set(people.map(({ national_id }) => national_id)).size).toBe(people.length);
    expect(new Set(people.map(({ phone }) => phone)).size).toBe(people.length);
  });

  it('have valid national ids of the unused range 9990', () => {
    for (const { national_id } of people) {
      expect(parseNationalId(national_id)).toBe(national_id);
      expect(national_id).toMatch(/^9990/);
    }
  });
});
