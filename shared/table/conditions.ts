export const ifEqual = (attribute: string, value: unknown) => ({
  ConditionExpression: '#expected = :expected',
  ExpressionAttributeNames: { '#expected': attribute },
  ExpressionAttributeValues: { ':expected': value },
});

/** Sets attributes and removes those that are undefined. */
export const setting = (attributes: Readonly<Record<string, unknown>>) => {
  const names = Object.keys(attributes);
  const present = names.filter((name) => attributes[name] !== undefined);
  const absent = names.filter((name) => attributes[name] === undefined);
  return {
    UpdateExpression: [
      `SET ${present.map((name) => `#${name} = :${name}`).join(', ')}`,
      ...(absent.length === 0 ? [] : [`REMOVE ${absent.map((name) => `#${name}`).join(', ')}`]),
    ].join(' '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(present.map((name) => [`:${name}`, attributes[name]])),
  };
};

export const settingIfEqual = (
  attributes: Readonly<Record<string, unknown>>,
  [attribute, value]: readonly [string, unknown],
) => {
  const [update, condition] = [setting(attributes), ifEqual(attribute, value)];
  return {
    ...update,
    ...condition,
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, ...condition.ExpressionAttributeNames },
    ExpressionAttributeValues: {
      ...update.ExpressionAttributeValues,
      ...condition.ExpressionAttributeValues,
    },
  };
};
