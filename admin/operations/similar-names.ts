/** Returns a name as it is compared: in any case, and in one form of Unicode. */
export const normalized = (name: string): string => name.normalize('NFC').trim().toLowerCase();

/** How many letters differ: those to insert, to delete or to replace (Levenshtein). */
const distanceBetween = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (let column = 0; column < b.length; column += 1) {
      const replaced = (previous[column] ?? 0) + Number(letter !== b[column]);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
};

/** As in the suggestions of Commander: three letters differ, and less than half of them. */
const MAX_DISTANCE = 3;
const MAX_SHARE = 0.4;

/** Returns the names that differ least from a mistyped one, but none that differs much. */
export const similarNames = (typed: string, names: readonly string[]): readonly string[] => {
  const close = names
    .filter((name) => Math.abs(name.length - typed.length) <= MAX_DISTANCE)
    .map((name) => ({ name, distance: distanceBetween(typed, name) }))
    .filter(
      ({ name, distance }) =>
        distance <= MAX_DISTANCE && distance <= MAX_SHARE * Math.max(name.length, typed.length),
    );
  const least = Math.min(...close.map(({ distance }) => distance));
  return close.filter(({ distance }) => distance === least).map(({ name }) => name);
};
