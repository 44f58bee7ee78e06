import { z } from 'zod';
import type { Message } from './run.ts';

// At most this many omitted files of a message are listed by name.
const NAMED_MAX = 5;

const TextPart = z.looseObject({
  type: z.literal('text'),
  text: z.string(),
  /**
   * Present on a sentence about files that were omitted because no model accepts them: their number. Readers that do not know
   * this field, such as the AI SDK, treat the sentence as text.
   */
  leftOut: z.int().positive().optional(),
});
type TextPart = z.infer<typeof TextPart>;

/** An image that a person sent: its bytes as base64, or an https address, which only the model's provider opens. */
export const FilePart = z.looseObject({
  type: z.literal('file'),
  mediaType: z.string(),
  data: z.string(),
  filename: z.string().optional(),
});
export type FilePart = z.infer<typeof FilePart>;

const ContentPart = z.discriminatedUnion('type', [TextPart, FilePart]);
/** A part of a person's message as it is stored. */
export type ContentPart = z.infer<typeof ContentPart>;

/** Reads the parts of a person's message. Parts of unknown kinds are skipped. */
export function contentParts(content: unknown): readonly ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => {
    const read = ContentPart.safeParse(part);
    return read.success ? [read.data] : [];
  });
}

/** One paragraph about all files omitted from these messages; empty when there are none. */
export function leftOutText(messages: readonly Message[]): string {
  return messages
    .flatMap(({ content }) => contentParts(content))
    .flatMap((part) => (isLeftOut(part) ? [part.text] : []))
    .join(' ');
}

/** True for a sentence about omitted files; false for what the person sent. */
export function isLeftOut(part: ContentPart): part is TextPart & { readonly leftOut: number } {
  return part.type === 'text' && part.leftOut !== undefined;
}

/** True for a file that is given by its address. */
export function isAddress({ data }: FilePart): boolean {
  return data.startsWith('https:');
}

/** The size of a file in bytes; 0 when only its address is known. */
export function fileBytes(file: FilePart): number {
  if (isAddress(file)) return 0;
  const padding = file.data.endsWith('==') ? 2 : file.data.endsWith('=') ? 1 : 0;
  return (file.data.length * 3) / 4 - padding;
}

/** The sentence about an omitted file, for both the person and the model. */
export function leftOut(
  { filename, mediaType }: { readonly mediaType: string; readonly filename?: string | undefined },
  reason: string,
): ContentPart {
  // Written as code, a file name cannot act as a Markdown link or image.
  const name = filename === undefined ? undefined : `\`${filename.replaceAll('`', "'")}\``;
  const subject = name ?? (mediaType.startsWith('image/') ? 'An image' : 'A file');
  return { type: 'text', text: `${subject} was left out: ${reason}.`, leftOut: 1 };
}

/** Limits the sentences about omitted files in a message: those beyond the limit become one sentence with their count. */
export function countLeftOut(parts: readonly ContentPart[]): readonly ContentPart[] {
  const more = parts.filter(isLeftOut).slice(NAMED_MAX);
  const number = more.reduce((sum, part) => sum + part.leftOut, 0);
  if (number === 0) return parts;
  const text = `${number} more ${number === 1 ? 'was' : 'were'} left out.`;
  return [
    ...parts.filter((part) => !(isLeftOut(part) && more.includes(part))),
    { type: 'text', text, leftOut: number },
  ];
}
