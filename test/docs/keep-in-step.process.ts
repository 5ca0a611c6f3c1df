/** Six of the kills of keep-in-step.nightly.ts: each start of the program takes a third of a CPU second. */
import { mirrorTests } from './mirror.ts';

/** This seed kills at each of the requests 1 to 5, twice while the program reads all users, and four times before the response. */
describe('the program of the page', () => mirrorTests({ kills: 6, seed: 1737 }));
