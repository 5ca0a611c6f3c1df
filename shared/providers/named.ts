/** The providers of these names, in their order. Throws if a name is unknown, given twice, or none is given. */
export const providersNamed = <P extends { readonly name: string }>(
  names: readonly string[],
  known: readonly P[],
): readonly P[] => {
  const choice = known.map(({ name }) => name).join(', ');
  if (names.length === 0) throw new Error(`no provider is named; there are: ${choice}`);
  if (new Set(names).size !== names.length) throw new Error(`a provider is named twice: ${names.join(', ')}`);
  return names.map((wanted) => {
    const provider = known.find(({ name }) => name === wanted);
    if (provider === undefined) throw new Error(`unknown provider "${wanted}"; there are: ${choice}`);
    return provider;
  });
};
