/** The words and numbers of the page of a key. Pure functions; `key.js` shows them. */
import type { InferOutput } from 'valibot';
import type { keyUsageSchema } from '#shared/api-keys/schema.ts';

/** An hour of the response of `GET /v1/key/usage`. */
export type UsageHour = InferOutput<typeof keyUsageSchema>['data'][number];

type CountName = Exclude<keyof UsageHour, 'hour'>;

/** The counts of an hour, in the order of the page. Refused links, failed checks and failed verifications are requests too. */
export const COUNTS = {
  requests: 'Requests',
  refused_links: 'Refused links',
  failed_checks: 'Failed checks',
  failed_verifies: 'Failed verifications',
  sms: 'SMS',
} as const satisfies Record<CountName, string>;

/** Returns `1,234`. */
export const numberText = (number: number): string => number.toLocaleString('en');

/** Returns `Sat 21 Nov` in UTC. The form of toUTCString is standard, those of toLocaleString differ. */
export const dayText = (time: number): string => {
  const [weekday = '', day, month] = new Date(time).toUTCString().split(/,? /);
  return `${weekday} ${Number(day)} ${month}`;
};

/** Returns `Sat 21 Nov, 08:00` in UTC. */
export const timeText = (time: number): string =>
  `${dayText(time)}, ${new Date(time).toISOString().slice(11, 16)}`;

/** Returns `23 s`, `41 min` or `5 h 12 min`, rounded up. */
export const durationText = (seconds: number): string => {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

/** Returns the requests of an hour that were refused links, failed checks or failed verifications. */
export const refusedIn = ({ refused_links, failed_checks, failed_verifies }: UsageHour): number =>
  refused_links + failed_checks + failed_verifies;

/** Returns `1 refused link`. */
const countText = (name: CountName, count: number): string => {
  const word = name === 'sms' ? 'SMS' : COUNTS[name].toLowerCase();
  return `${numberText(count)} ${count === 1 ? word.replace(/s$/, '') : word}`;
};

/** Returns `Sat 21 Nov, 08:00 UTC: 412 requests, 2 refused links`: the requests of an hour, and its other counts that are not 0. */
export const hourText = (hour: UsageHour): string => {
  const names = (Object.keys(COUNTS) as CountName[]).filter((name) => name === 'requests' || hour[name] > 0);
  return `${timeText(Date.parse(hour.hour))} UTC: ${names.map((name) => countText(name, hour[name])).join(', ')}`;
};

/** Returns the sum of each count. */
export const totalsOf = (hours: readonly UsageHour[]): Readonly<Record<CountName, number>> => {
  const sum = (name: CountName): number => hours.reduce((total, hour) => total + hour[name], 0);
  return {
    requests: sum('requests'),
    refused_links: sum('refused_links'),
    failed_checks: sum('failed_checks'),
    failed_verifies: sum('failed_verifies'),
    sms: sum('sms'),
  };
};

/** Returns what the chart shows, in words. */
export const summaryOf = (hours: readonly UsageHour[]): string => {
  const [first] = hours;
  if (first === undefined) return 'Nothing was counted in the last seven days.';
  const most = hours.reduce((highest, hour) => (hour.requests > highest.requests ? hour : highest), first);
  const inHours = hours.length === 1 ? '1 hour' : `${hours.length} hours`;
  return (
    `${countText('requests', totalsOf(hours).requests)} in ${inHours} of the last seven days. ` +
    `The most in one hour: ${numberText(most.requests)}, ${timeText(Date.parse(most.hour))} UTC.`
  );
};

const FAILURES: Readonly<Record<number, string>> = {
  401: 'This key is not valid. It is mistyped, revoked or expired, or its account is suspended.',
  403: 'This key lacks the scope for this request.',
  429: 'A limit of this key or of your address is used up.',
  503: 'The service is not available at the moment.',
};

/** Returns why a request failed, and when to try again if the response says so. `retryAfter`: the value of its header, in seconds. */
export const failureText = (status: number, retryAfter: string | null): string => {
  const reason = FAILURES[status] ?? `The service answered with the unexpected status ${status}.`;
  return retryAfter === null ? reason : `${reason} Try again in ${durationText(Number(retryAfter))}.`;
};
