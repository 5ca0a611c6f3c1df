import { mirrorTests } from './mirror.ts';

describe('the program of the page', () => mirrorTests({ kills: 16, seed: 24 }));
