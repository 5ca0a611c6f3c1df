import type { Page } from './page.ts';

/** Returns the response headers of a page. */
export const pageHeaders = ({ contentSecurityPolicy }: Page) => ({
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
});
