import type { SecretSource } from '#shared/secrets/secret-source.ts';

/** A fetch would put the text of any other header value into its error. */
const KEY = /^blk_(?:live|test)_[0-9A-Za-z]+$/;

/**
 * Returns the API key of the canary that an admin stored, or undefined if there is none. Throws if the secret cannot be read. Secrets Manager
 * answers a read of an empty secret with ResourceNotFoundException (boto3 issue 2794).
 */
export const storedKey = async (secret: SecretSource): Promise<string | undefined> => {
  const text = await secret.read().catch((error: Error) => {
    if (error.name === 'ResourceNotFoundException') return '';
    throw error;
  });
  const key = text.trim();
  return KEY.test(key) ? key : undefined;
};
