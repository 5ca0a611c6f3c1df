import { randomBase62 } from './base62.ts';
import type { Ids } from './port.ts';

export const randomIds: Ids = (prefix) => `${prefix}_${randomBase62(22)}`;
