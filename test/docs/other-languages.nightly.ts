/** Follows the page that generates a client for Python: to install the generator takes 10 CPU seconds. reading-order.pages.ts follows the other pages. */
import { faultsOf } from './output.ts';
import { parsePage, textOf } from './page.ts';
import { newReader, type Reader } from './reader.ts';

const PAGE = 'docs/sellers/other-languages.md';

let reader: Reader;

beforeAll(async () => {
  reader = await newReader();
}, 180_000);

afterAll(() => reader?.leave());

it(`${PAGE} runs as written and prints what it shows`, async () => {
  const page = parsePage(textOf(PAGE));
  expect(faultsOf(page, await reader.follow(page.steps))).toEqual([]);
}, 120_000);
