import { maskNationalId } from './national-id.ts';
import type { UserView } from './schema.ts';
import type { User } from './store.ts';

/** A user as answers show it. */
export const viewOf = (user: User): UserView => ({
  id: user.id,
  national_id: maskNationalId(user.nationalIdLastFour),
  birth_date: user.birthDate,
  phone: user.phone,
  display_name: user.displayName,
  created_at: user.createdAt,
});
