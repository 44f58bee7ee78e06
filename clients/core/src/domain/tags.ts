import { z } from 'zod';
import { faultOfProse } from './text.ts';
import { visible } from './visible.ts';

/** The maximum number of tags of a record, and the maximum length of each. */
export const TAGS_MAX = 10;
export const TAG_CHARACTERS_MAX = 64;

/** The fault of a tag, or undefined. Tags are compared exactly, so they may contain nothing that is hard to see. */
function faultOfTag(text: string): string | undefined {
  if (text === '') return 'must not be empty';
  if (text !== text.trim()) return 'must not begin or end with a blank';
  const fault = faultOfProse(text, TAG_CHARACTERS_MAX);
  if (fault !== undefined) return fault;
  if (/[\t\n\r]/.test(text)) return 'must be one line';
  return visible(text) === text ? undefined : 'must not contain characters that cannot be seen';
}

/** One tag, exactly as given. */
export const Tag = z.string().superRefine((text, issues) => {
  const fault = faultOfTag(text);
  if (fault !== undefined) issues.addIssue({ code: 'custom', message: fault });
});

/** Short labels by which operators search. They are no content, so everybody who may list a record sees its tags. */
export const Tags = z
  .array(Tag)
  .max(TAGS_MAX)
  .refine((tags) => new Set(tags).size === tags.length, { error: 'must differ from each other' })
  .describe(
    `Up to ${TAGS_MAX} different texts of 1 to ${TAG_CHARACTERS_MAX} characters by which operators find a question or an approval. They are not content: every operator sees them.`,
  );

/** The member `tags` of a displayed record; an empty object if it has no tags. */
export function tagsOf({ tags }: { readonly tags?: readonly string[] | undefined }): {
  readonly tags?: string[];
} {
  return tags === undefined || tags.length === 0 ? {} : { tags: [...tags] };
}
