type Send = (request: Request) => Promise<Response>;

/**
 * Returns a `fetch` that calls `onKeyExpiring` once for each end that a response announces. After a rotation the responses of some minutes
 * can announce the old end and the new one in turn.
 */
export const announcingExpiry = (fetch: Send, onKeyExpiring: (expiresAt: Date) => void): Send => {
  const announced = new Set<string>();
  return async (request) => {
    const response = await fetch(request);
    const expiresAt = response.headers.get('X-Api-Key-Expires-At');
    if (expiresAt !== null && !announced.has(expiresAt)) {
      announced.add(expiresAt);
      onKeyExpiring(new Date(expiresAt));
    }
    return response;
  };
};
