import type { Completed } from './gateway.ts';
import type { Demo } from './service.ts';

/**
 * One line about a request: `12:30:01  POST /v1/users  409 user_conflict  34 ms  create-user`. The path is the route's and not the one
 * that was sent: a wrong path or a query may hold a phone. Node refuses an unknown method before.
 */
export const requestLine = (
  { method, route, status, code, durationMs }: Completed,
  now = new Date(),
): string =>
  [
    now.toTimeString().slice(0, 8),
    `${method} ${route?.path ?? '(unknown path)'}`,
    code === undefined ? status : `${status} ${code}`,
    `${durationMs} ms`,
    route?.name ?? '-',
  ].join('  ');

/** A generated person for the curl lines only: no page of the docs has it, and no operator uses this phone range. */
const BUYER = { phone: '+989990001001', national_id: '9990010013', birth_date: '1370/1/15' } as const;

const post = (url: string, key: string, body: Readonly<Record<string, string>>): string =>
  [
    `curl -s ${url} \\`,
    `  -H 'X-Api-Key: ${key}' -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');

/** The text when the service is ready: its URL, the keys, and curl lines for the whole flow. */
export const readyText = ({ base_url, seller_id, keys, other_seller }: Demo): string => `
Ready: ${base_url}   (reference page: ${base_url}/docs)

Demo seller ${seller_id}
  free          ${keys.free}   100 requests a minute
  professional  ${keys.professional}   1000 requests a minute
  read_only     ${keys.read_only}   users:read
  write_only    ${keys.write_only}   users:write
  app           ${keys.app}   buyers:register, the buyer app's own
Other seller ${other_seller.seller_id}
  key           ${other_seller.key}

The whole flow, to paste into another terminal (or: npm run demo):

# 1. The buyer app sends a code. It appears here, in this terminal.
${post(`${base_url}/v1/auth/otp/send`, keys.app, { phone: BUYER.phone })}

# 2. The buyer app verifies it: the buyer is signed in and registered.
CODE=$(curl -s '${base_url}/_local/messages?phone=${encodeURIComponent(BUYER.phone)}' | grep -oE '"code":"[0-9]{6}' | head -n 1 | grep -oE '[0-9]{6}')
${post(`${base_url}/v1/auth/otp/verify`, keys.app, { phone: BUYER.phone, code: 'CODE' }).replace(
  '"CODE"',
  `"'$CODE'"`,
)}

# 3. A seller links the buyer.
${post(`${base_url}/v1/users`, keys.free, { ...BUYER, display_name: 'Sara Ahmadi' })}

# 4. The seller lists its users.
curl -s '${base_url}/v1/users?page=1&page_size=20' -H 'X-Api-Key: ${keys.free}'

# 5. The seller finds the user by phone, reads it and removes it (204).
ID=$(curl -s '${base_url}/v1/users?phone=${encodeURIComponent(BUYER.phone)}' -H 'X-Api-Key: ${keys.free}' | grep -oE 'usr_[0-9A-Za-z]+')
curl -s ${base_url}/v1/users/$ID -H 'X-Api-Key: ${keys.free}'
curl -s -X DELETE -w '%{http_code}\\n' ${base_url}/v1/users/$ID -H 'X-Api-Key: ${keys.free}'

Ctrl-C stops the service.
`;
