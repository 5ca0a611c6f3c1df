import type { SecretSource } from '#shared/secrets/secret-source.ts';

/** A secret held in memory, for tests. */
export const fixedSecret = (text: string): SecretSource => ({ read: async () => text });
