import { checkCopy, copyRepository, followLists, removeCopy } from './contributing-lists.ts';

beforeAll(copyRepository, 180_000);
afterAll(removeCopy);

it('a new endpoint and a new field, added as CONTRIBUTING.md says, change the files in bold and no others, compile, and pass the tests that it names', async () => {
  await checkCopy(await followLists());
}, 300_000);
