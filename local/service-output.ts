import { styleText } from 'node:util';
import type { InputError } from '#shared/problems.ts';
import type { Demo } from './demo-seeds.ts';
import type { Completed } from './gateway.ts';

/** The width of `POST /v1/auth/otp/verify`: the problem codes stand in one column. */
const OPERATION_WIDTH = 25;
const SHORT_ID_LENGTH = 8;

/**
 * One line about a request: time, status, duration, the beginning of the request id, method and path, problem code and the names of the
 * wrong fields. The path is the route's and not the one that was sent: a wrong path or a query may hold a phone. The status has a color if
 * the terminal shows colors.
 */
export const requestLine = (completed: Completed, now: Date): string => {
  const { requestId, method, route, status, problem, durationMs } = completed;
  return [
    now.toTimeString().slice(0, 8),
    styleText(colorOf(status), String(status)),
    `${durationMs} ms`.padStart(8),
    requestId.slice(0, SHORT_ID_LENGTH),
    `${method} ${route?.path ?? '(unknown path)'}`.padEnd(OPERATION_WIDTH),
    problem === undefined ? '' : [problem.code, ...wrongNames(problem.errors ?? [])].join(' '),
  ]
    .join('  ')
    .trimEnd();
};

const colorOf = (status: number): 'green' | 'yellow' | 'red' => {
  if (status >= 500) return 'red';
  return status >= 400 ? 'yellow' : 'green';
};

/** The names of the service's own fields have no digits. Another name is the caller's, and may hold a phone or control characters. */
const OWN_NAME = /^[a-z_]{1,40}$/;

/** Returns the names of the fields and parameters that a request had wrong. */
const wrongNames = (errors: readonly InputError[]): string[] => {
  const names = errors.map((error) =>
    'pointer' in error ? error.pointer.replace('#/', '') : error.parameter,
  );
  return [...new Set(names.map((name) => (OWN_NAME.test(name) ? name : '(unknown name)')))];
};

/** What a demo key is for, by its name in .local/demo.json. The others are named well enough. */
const PURPOSES: Readonly<Record<string, string>> = {
  free: '100/minute',
  professional: '1000/minute',
  app: 'the buyer app',
};

/** The text when the service is ready. It fits a terminal of 80 × 24. */
export const readyText = ({ base_url, seller_id, keys, other_seller }: Demo): string => {
  const keyLine = (name: string, key: string) =>
    `  ${name.padEnd(13)} ${key}  ${PURPOSES[name] ?? ''}`.trimEnd();
  return `
Ready: ${base_url}

  docs          ${base_url}/docs
  codes         the last six digits of a phone that begins with 0999
  demo          npm run demo   (in another terminal)

Keys of the demo seller ${seller_id}
${Object.entries(keys)
  .map(([name, key]) => keyLine(name, key))
  .join('\n')}
Key of the other seller ${other_seller.seller_id}
${keyLine('other', other_seller.key)}

Ctrl-C stops the service.
`;
};
