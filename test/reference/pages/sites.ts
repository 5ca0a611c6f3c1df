import type { Site } from '#reference/pages/site.ts';

/** The pages of `npm start`. */
export const LOCAL_SITE: Site = { isLocal: true, support: null };

/** The pages of a deployment that names whom to ask. */
export const DEPLOYED_SITE: Site = {
  isLocal: false,
  support: { email: 'api@example.com', statusUrl: 'https://status.example.com' },
};
