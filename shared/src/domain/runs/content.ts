import { z } from 'zod';
import type { Message } from './run.ts';

// How many files that were left out of a message are named.
const NAMED_MAX = 5;

const TextPart = z.looseObject({
  type: z.literal('text'),
  text: z.string(),
  /**
   * For a sentence about files that a person sent and no model gets: how many. Readers that do not know the mark, such as
   * the AI SDK, take the sentence for text.
   */
  leftOut: z.int().positive().optional(),
});
type TextPart = z.infer<typeof TextPart>;

/** An image that a person sent: its bytes as base64, or its https address, which only the model's provider opens. */
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

/** The parts of a person's message. Parts of kinds that this version does not know are passed over. */
export function contentParts(content: unknown): readonly ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => {
    const read = ContentPart.safeParse(part);
    return read.success ? [read.data] : [];
  });
}

/** What was left out of these messages, as one paragraph; empty where everything was passed on. */
export function leftOutText(messages: readonly Message[]): string {
  return messages
    .flatMap(({ content }) => contentParts(content))
    .flatMap((part) => (isLeftOut(part) ? [part.text] : []))
    .join(' ');
}

/** True for the sentence about what was left out; false for what the person sent. */
export function isLeftOut(part: ContentPart): part is TextPart & { readonly leftOut: number } {
  return part.type === 'text' && part.leftOut !== undefined;
}

/** True for a file that is given by its address. */
export function isAddress({ data }: FilePart): boolean {
  return data.startsWith('https:');
}

/** How many bytes a file has; none where only its address is known. */
export function fileBytes(file: FilePart): number {
  if (isAddress(file)) return 0;
  const padding = file.data.endsWith('==') ? 2 : file.data.endsWith('=') ? 1 : 0;
  return (file.data.length * 3) / 4 - padding;
}

/** The sentence about a file that was left out, to the person and to the model alike. */
export function leftOut(
  { filename, mediaType }: { readonly mediaType: string; readonly filename?: string | undefined },
  reason: string,
): ContentPart {
  // As code, a name is no link and no image of Markdown.
  const name = filename === undefined ? undefined : `\`${filename.replaceAll('`', "'")}\``;
  const subject = name ?? (mediaType.startsWith('image/') ? 'An image' : 'A file');
  return { type: 'text', text: `${subject} was left out: ${reason}.`, leftOut: 1 };
}

/** The parts of a message with few sentences about what was left out: further ones are counted in one. */
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
