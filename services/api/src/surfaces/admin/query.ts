import { UserId } from '@parley/core/domain/elicitations/ask-input';
import { LIST_ORDERS, LISTED_STATES } from '@parley/shared/ports/tenant-lists';
import { z } from 'zod';

/** The maximum number of items on one page of a list. */
export const PAGE_MAX = 100;
/** The maximum number of rows in one export. The next export continues at its cursor. */
export const EXPORT_ROWS_MAX = 10_000;
const AGE_SECONDS_MAX = 366 * 86_400;
const WORD_MAX = 256;

const age = (about: string) => z.coerce.number().int().min(0).max(AGE_SECONDS_MAX).optional().describe(about);

const FORMATS = ['json', 'csv', 'jsonl'] as const;
export type ListFormat = (typeof FORMATS)[number];

const Format = z
  .enum(FORMATS)
  .optional()
  .describe(
    `\`csv\` or \`jsonl\`: up to ${EXPORT_ROWS_MAX} rows, streamed, whatever \`limit\` is. By default what \`Accept\` names (\`text/csv\`, \`application/jsonl\`), else \`json\`.`,
  );

/** A filter for one exact text. */
export const exactly = (what: string) => z.string().min(1).max(WORD_MAX).optional().describe(`Only ${what}.`);

/** The CSV columns: the members of an entry, without its content. */
export const columnsOf = (view: z.ZodObject, ...content: readonly string[]) =>
  Object.keys(view.shape).filter((name) => !content.includes(name));

/** The members that the replies of all lists have beside their entries. */
export const NEXT = { nextCursor: z.string().optional() };
export const LIST_DESCRIPTION =
  'Over all users of the tenant of the key. A page may have fewer entries than `limit`, or none, and still a `nextCursor`: then more follow.';

/** Makes a filter by value. An absent filter keeps everything. */
export const is = (wanted: string | undefined, ...values: readonly (string | undefined)[]) =>
  wanted === undefined || values.includes(wanted);

/** Makes a filter by several statuses. */
export function statusFilter<const Status extends string>(statuses: readonly Status[]) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value) => (Array.isArray(value) ? value : value.split(',')))
    .pipe(z.array(z.enum(statuses)))
    .optional()
    .describe(`Only these; comma separated or repeated. Of ${statuses.join(', ')}.`);
}

/** The query parameters that every list has. */
export const LIST_QUERY = {
  state: z
    .enum(LISTED_STATES)
    .default('open')
    .describe(
      '`open`: what has not ended, by the time at which it began. `ended`: the rest, by the time of its end.',
    ),
  order: z.enum(LIST_ORDERS).default('newest'),
  olderThanSeconds: age('Only what began (`open`) or ended at least so long ago.'),
  youngerThanSeconds: age('Only what began (`open`) or ended at most so long ago.'),
  userId: UserId.optional().describe("Only this user's."),
  conversationId: exactly('those of this conversation'),
  streamRequestId: exactly('those of this stream request'),
  format: Format,
  cursor: z.string().max(8_192).optional().describe('`nextCursor` of the page before.'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(PAGE_MAX)
    .default(50)
    .describe(`1 to ${PAGE_MAX}, by default 50.`),
} as const;

/** The owner of the turn or conversation that a call names. */
export const OwnerQuery = z
  .strictObject({
    userId: UserId.optional().describe('Whose it is.'),
    key: z.string().min(1).max(64).optional().describe('The service key whose it is.'),
  })
  .refine(({ userId, key }) => (userId === undefined) !== (key === undefined), {
    path: ['userId'],
    message: 'name the user, or the service key as `key`',
  });
export type OwnerQuery = z.infer<typeof OwnerQuery>;
