/** Compiles and tests a copy of the repository, which takes 40 CPU seconds. `npm run test:client` compares the lists with what changes. */
import { checkCopy, copyRepository, followLists, removeCopy } from './contributing-lists.ts';

beforeAll(copyRepository, 180_000);
afterAll(removeCopy);

it('a new endpoint and a new field, added as CONTRIBUTING.md says, compile and pass the tests that it names', async () => {
  await checkCopy(await followLists());
}, 300_000);
