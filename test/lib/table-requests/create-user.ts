import { newPerson } from '#test/scenarios/people.ts';
import type { FunctionCalls } from '../function-calls.ts';

/** Uses every grant of the row. */
export default async ({ statusOf, simulators, recorder, newBuyer }: FunctionCalls): Promise<void> => {
  const person = await newBuyer();
  const another = { body: await newBuyer() };
  const third = { body: await newBuyer() };
  recorder.clear();
  expect(await statusOf('create-user', { body: newPerson() })).toBe(404);
  expect(await statusOf('create-user', { body: person })).toBe(201);
  expect(await statusOf('create-user', { body: person })).toBe(200);
  expect(await statusOf('create-user', { body: { ...person, birth_date: '1359/1/1' } })).toBe(409);
  // Of two requests at once, one waits for the check of the other.
  const statuses = await Promise.all([statusOf('create-user', another), statusOf('create-user', another)]);
  expect(statuses.sort()).toEqual([200, 201]);
  // A request that has waited for the result of another reads the limit of failed checks again.
  await simulators.faults.set('jibit', 'undecided');
  expect(await Promise.all([statusOf('create-user', third), statusOf('create-user', third)])).toEqual([
    503, 503,
  ]);
  await simulators.faults.set('jibit', undefined);
};
