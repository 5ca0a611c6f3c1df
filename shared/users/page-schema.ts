import * as v from 'valibot';
import { integer, queryInteger } from '#shared/fields.ts';
import { describedPhone } from '#shared/values/schemas.ts';
import { externalIdSchema, USER_ID_EXAMPLE, userSchema } from './schema.ts';
import { USER_ID } from './user-id.ts';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

const userPageQuery = v.strictObject({
  // A `+` that became a space is trimmed: 98 without it means the same.
  phone: v.optional(
    describedPhone(
      'Only the users linked with this phone, in any form that POST /v1/users accepts: the one that was checked last first, of two the later link.',
    ),
  ),
  external_id: v.optional(externalIdSchema),
  after: v.optional(
    v.pipe(
      v.string(),
      v.regex(USER_ID, 'Must be the id of a user.'),
      v.description(
        'Only the users linked after this one, in place of a page. Any well-formed id, also that of a removed user.',
      ),
      v.examples([USER_ID_EXAMPLE]),
    ),
  ),
  page: v.optional(queryInteger('The number of the page, counted from 1. The default is 1.', 1)),
  page_size: v.optional(
    queryInteger(`How many users a page holds, 1 to ${MAX_PAGE_SIZE}.`, 1, MAX_PAGE_SIZE),
    String(DEFAULT_PAGE_SIZE),
  ),
});

type UserPageQuery = v.InferOutput<typeof userPageQuery>;

/**
 * Refuses a parameter beside others. `partialCheck` would not be asked if one of them is wrong in itself, and the response names every fault
 * at once.
 */
const notBeside = <Name extends keyof UserPageQuery>(
  name: Name,
  others: readonly (keyof UserPageQuery)[],
  message: string,
) =>
  v.forward<UserPageQuery, v.RawCheckIssue<UserPageQuery>, [Name]>(
    v.rawCheck(({ dataset, addIssue }) => {
      const isGiven = (parameter: string) => Object.hasOwn(dataset.value as object, parameter);
      if (isGiven(name) && others.some(isGiven)) addIssue({ message });
    }),
    [name],
  );

export const userPageQuerySchema = v.pipe(
  userPageQuery,
  notBeside('external_id', ['phone'], 'Must not be given together with phone.'),
  notBeside(
    'after',
    ['page', 'phone', 'external_id'],
    'Must not be given together with page, phone or external_id.',
  ),
);

export const userPageSchema = v.pipe(
  v.object({
    data: v.pipe(
      v.array(userSchema),
      v.description(
        'The users of this page, in the order of linking; with `phone`, the one that was checked last first.',
      ),
    ),
    page: v.optional(integer(1, 'The number of this page, as in the query. Not with `after`.', 1)),
    page_size: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(MAX_PAGE_SIZE),
      v.description('How many users a page holds, as in the query. The last page may hold fewer.'),
      v.examples([DEFAULT_PAGE_SIZE]),
    ),
    total: integer(0, 'How many users there are; with a filter, how many it finds.', 41),
    total_pages: v.optional(integer(0, 'The number of pages. Not with `after`.', 3)),
    next_after: v.pipe(
      v.nullable(v.string()),
      v.description(
        'The `after` of the next request: the last id of this response; null after the last user. With `phone` it is null: go on with `page`.',
      ),
      v.examples([USER_ID_EXAMPLE]),
    ),
  }),
  v.title('UserPage'),
);
