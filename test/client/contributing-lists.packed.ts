import { copyRepository, followLists, removeCopy } from './contributing-lists.ts';

beforeAll(copyRepository, 180_000);
afterAll(removeCopy);

it('a new endpoint and a new field change the files in bold of CONTRIBUTING.md and no others', async () => {
  await followLists();
}, 120_000);
