import type { SecretSource } from './port.ts';

/** A secret held in memory, for tests. */
export const fixedSecret = (text: string): SecretSource => ({ read: async () => text });
