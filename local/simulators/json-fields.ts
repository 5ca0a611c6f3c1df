/** The fields of a JSON object in a request's body; undefined if it holds anything else. */
export const jsonFields = (body: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};
