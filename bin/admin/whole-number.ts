import { InvalidArgumentError } from 'commander';

/** A parser of an option that takes a whole number from 1 on. */
export const wholeNumberUpTo =
  (most: number) =>
  (text: string): number => {
    const number = Number(text);
    if (!Number.isInteger(number) || number < 1 || number > most) {
      throw new InvalidArgumentError(`A whole number from 1 to ${most}.`);
    }
    return number;
  };
