/** The providers of these names, in their order. Throws if a name is unknown, given twice, or none is given. */
export const providersNamed = <P extends { readonly name: string }>(
  names: readonly string[],
  known: readonly P[],
): readonly P[] => {
  const choice = `must be one or more of: ${known.map(({ name }) => name).join(', ')}`;
  if (names.length === 0 || new Set(names).size !== names.length) throw new Error(`providers ${choice}`);
  return names.map((wanted) => {
    const provider = known.find(({ name }) => name === wanted);
    if (provider === undefined) throw new Error(`unknown provider; it ${choice}`);
    return provider;
  });
};
