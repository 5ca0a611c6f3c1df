/** The operations of a registry, as errors, logs and metrics name them. */
export const IDENTITY = 'identity';
export const OWNERSHIP = 'ownership';
