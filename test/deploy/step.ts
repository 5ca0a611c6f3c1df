/** Runs one step and prints its name and its duration in seconds. */
export const step = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
  const startedAt = Date.now();
  process.stdout.write(`  ${name.padEnd(30)}`);
  try {
    const result = await run();
    process.stdout.write(`${Math.round((Date.now() - startedAt) / 1000)} s\n`);
    return result;
  } catch (error) {
    process.stdout.write('failed\n');
    throw error;
  }
};
