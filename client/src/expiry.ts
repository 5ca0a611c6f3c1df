/** Returns a `fetch` that calls `onKeyExpiring` once for each end of the key that a success announces. */
export const announcingExpiry = (onKeyExpiring: (expiresAt: Date) => void) => {
  let announced: string | null = null;
  return (send: (request: Request) => Promise<Response>) =>
    async (request: Request): Promise<Response> => {
      const response = await send(request);
      const expiresAt = response.headers.get('X-Api-Key-Expires-At');
      if (expiresAt !== null && expiresAt !== announced) {
        announced = expiresAt;
        onKeyExpiring(new Date(expiresAt));
      }
      return response;
    };
};
