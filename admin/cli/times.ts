const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

const DURATION = /^([0-9]{1,6})(s|m|h|d)$/;
const MOMENT = /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T([0-9]{2}:[0-9]{2})(:[0-9]{2})?Z)?$/;

/** Parses `90d`, `24h`, `30m`, `10s` or `0` into seconds; undefined for other texts. */
export const parseDuration = (text: string): number | undefined => {
  if (text === '0') return 0;
  const [, count, unit] = DURATION.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS];
};

/** Parses a time into epoch seconds: from now (`90d`), the start of a day (`2027-01-31`, UTC) or `2027-01-31T12:00Z`; undefined for other texts. */
export const parseMoment = (text: string, nowMs: number): number | undefined => {
  const duration = parseDuration(text);
  if (duration !== undefined) return Math.floor(nowMs / 1000) + duration;
  const [, day, minute = '00:00', second = ':00'] = MOMENT.exec(text) ?? [];
  const iso = `${day}T${minute}${second}Z`;
  const seconds = Date.parse(iso) / 1000;
  // Date.parse takes February 31 for March 3.
  return !Number.isNaN(seconds) && isoOf(seconds) === iso ? seconds : undefined;
};

/** Formats epoch seconds as `2027-01-31T00:00:00Z`; null for undefined, which means never. */
export const isoOf = (epochSeconds: number | undefined): string | null =>
  epochSeconds === undefined ? null : `${new Date(epochSeconds * 1000).toISOString().slice(0, 19)}Z`;

/** Formats a duration as `45 s`, `12 min`, `17 h 29 min` or `3 d 4 h`: at most two units, rounded up. */
export const durationText = (seconds: number): string => {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
};
