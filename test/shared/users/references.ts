import { parseExternalId } from '#shared/users/external-id.ts';

const padded = (value: number, length: number): string => String(value).padStart(length, '0');

/** References as shops make them, from a number of at least 0 and below 1 that is drawn anew for each part. */
const REFERENCES: Readonly<Record<string, (random: () => number) => string>> = {
  'a Snowflake id': (random) => {
    const ms = BigInt(Math.floor(random() * 2 ** 41));
    return String((ms << 22n) | BigInt(Math.floor(random() * 2 ** 22)) | (1n << 52n));
  },
  'a date and a number': (random) => {
    const [year, month, day] = [2000 + random() * 100, 1 + random() * 12, 1 + random() * 28].map(Math.floor);
    return `order:${year}${padded(Number(month), 2)}${padded(Number(day), 2)}-${padded(Math.floor(random() * 1e7), 7)}`;
  },
  'a UUID': (random) => {
    const hexadecimal = (length: number) =>
      Math.floor(random() * 16 ** length)
        .toString(16)
        .padStart(length, '0');
    return [8, 4, 4, 4, 12].map(hexadecimal).join('-');
  },
};

/** Returns the references, `count` of each kind, that `parseExternalId` refuses. */
export const refusedReferences = (count: number, random: () => number): readonly string[] =>
  Object.values(REFERENCES).flatMap((draw) =>
    Array.from({ length: count }, () => draw(random)).filter((text) => parseExternalId(text) !== text),
  );
